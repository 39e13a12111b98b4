import attrs

from lambdagent.ir.data import Record
from lambdagent.ir.sites import KINDS, Site
from lambdagent.machine.host import HOSTS
from lambdagent.machine.store import STORES


def test_the_machine_knows_every_host_and_store_kind():
    of_class = {c: {kind for kind, found in KINDS.items() if found == c} for c in KINDS.values()}
    assert of_class["host"] == set(HOSTS)
    assert of_class["store"] == set(STORES)


def test_the_binding_of_a_site_does_not_count():
    site = Site("tool:t", "tool", Record(name="t"), binding="one#1")
    assert site == attrs.evolve(site, binding="two#2")
    assert site != attrs.evolve(site, static=Record(name="u"))
    assert hash(site) == hash(attrs.evolve(site, binding=None))
