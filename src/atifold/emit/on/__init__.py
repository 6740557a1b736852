"""Say what each event does to the state: one module a group of domains, one function an event."""
