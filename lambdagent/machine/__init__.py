"""The CEK machine: core programs → transitions. No clock, no randomness, no I/O.

It steps until every thread has halted or waits for an answer of the outside world; whoever drives
it finds the requests in the state, obtains the answers, and resumes.
"""
