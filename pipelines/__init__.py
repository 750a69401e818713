"""The application: it reads settings, calls `fints` and logs."""
