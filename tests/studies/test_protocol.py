from dataclasses import replace

from fints.studies.protocol import Protocol


def test_the_words_state_what_the_protocol_says(small):
    for how in (small, Protocol(), replace(small, trained=33, total=50)):
        data, training = how.data_in_words, how.training_in_words
        for number in (how.trained, how.total, how.beyond, how.input_size, how.h):
            assert f" {number} " in data.replace("\n", " ")
        for number in (how.network.n_layers, how.network.dim, how.training.max_steps, how.training.batch_size):
            assert f" {number} " in training.replace("\n", " ")


def test_what_a_protocol_states_makes_a_trial_whatever_the_defaults_are_and_what_it_does_not_state_does_not(small):
    stated = Protocol().settings()
    assert stated["network"]["n_layers"] == Protocol().network.n_layers
    assert "block" not in stated["network"]
    assert replace(small, network=small.network.model_copy(update={"n_layers": 3})).settings() != small.settings()
