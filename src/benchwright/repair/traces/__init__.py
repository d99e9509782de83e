"""The traces of a run as a dataset on the Hub."""
