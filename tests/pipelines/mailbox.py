"""A mail server on this machine, for tests."""

import email.policy
import socketserver
import threading


class Mailbox:
    """Takes letters over SMTP without encryption; or refuses them, or hangs up."""

    def __init__(self, rude=""):
        self.rude, self.letters, self.recipients, self.heard = rude, [], [], ""

    def __enter__(self):
        box = self

        class Session(socketserver.StreamRequestHandler):
            def handle(self):
                box.serve(self)

        socketserver.ThreadingTCPServer.allow_reuse_address = True
        self.server = socketserver.ThreadingTCPServer(("127.0.0.1", 0), Session)
        self.server.daemon_threads = True
        self.port = self.server.server_address[1]
        self.worker = threading.Thread(target=self.server.serve_forever, daemon=True)
        self.worker.start()
        return self

    def __exit__(self, *_):
        self.server.shutdown()
        self.worker.join()
        self.server.server_close()

    def serve(self, session):
        def say(text):
            session.wfile.write(f"{text}\r\n".encode())

        if self.rude == "hangs up":
            return
        say("220 mailbox")
        to = []
        while line := session.rfile.readline():
            text = line.decode()
            self.heard += text
            verb = text[:4].upper()
            if verb == "QUIT":
                say("221 bye")
                return
            if verb == "DATA":
                say("354 go on")
                lines = []
                while (part := session.rfile.readline()) != b".\r\n":
                    lines.append(part)
                self.letters.append(email.message_from_bytes(b"".join(lines), policy=email.policy.default))
                self.recipients.append(to)
                say("250 taken")
                continue
            if verb == "RCPT":
                to = [*to, text.split("<")[1].split(">")[0]]
            say("550 no" if self.rude == "refuses" and verb == "RCPT" else "250 mailbox")
