package explore

import (
	"slices"

	"github.com/operkit/operkit/deploy/dryrun"
	"github.com/operkit/operkit/reconcile/reconciletest"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// faultyOperators returns the operators with faults that the explorer finds.
func faultyOperators() []faulty {
	return slices.Concat(inSessions(), disturbedByHand(), disturbedTwice(), readingLate(), wrongByHand(), inOtherStyles(), ofTwo(), depending(), wrongAfterEdits())
}

// inSessions returns operators with sessions.
func inSessions() []faulty {
	return []faulty{
		{
			fault: "explore 7: a child's name from the clock", source: "a beginner's mistake", style: "sessions",
			operator: sessions(renaming), story: []string{"names of objects depend on the time", "ConfigMap test/door-"},
		},
		{
			fault: "explore 9: a status that flips", source: "a beginner's mistake", style: "sessions",
			operator: sessions(flipping), story: []string{"doesn't come to rest", "test/tea", "status"},
		},
		{
			fault: "explore 9: a value from the clock", source: "a beginner's mistake", style: "sessions",
			operator: sessions(stamping), story: []string{"doesn't come to rest", "ConfigMap test/tea-door was changed 100 times"},
		},
		{
			fault: "explore 3: a value is remembered in memory", source: "Sieve: a crash", style: "sessions", long: true,
			operator: sessions(remembering), story: []string{"a restart", "ConfigMap test/tea-door", `.data.title: "1" -> "2"`},
		},
		{
			fault: "explore 9: a new password each time", source: "strimzi-kafka-operator#8552", style: "sessions",
			operator: sessions(rotating), story: []string{"doesn't come to rest", "Secret test/key was changed 100 times"},
		},
		{
			fault: "explore 9: another order after a restart", source: "strimzi-kafka-operator#6705", style: "sessions",
			operator: sessions(shuffling), story: []string{"after a restart though nothing has changed", "ConfigMap test/tea-door", ".data.title"},
		},
		{
			fault: "explore 14: the order of components shows", source: "Sieve: another order", style: "sessions",
			operator: sessions(numbering), story: []string{"the opposite order", "ConfigMap test/", ".data.number"},
		},
	}
}

// disturbedByHand returns hand-written operators whose faults need a disturbance within a reconcile.
func disturbedByHand() []faulty {
	return []faulty{
		{
			fault: "explore 2: a second child after a crash", source: "image-scanner-operator#48", style: "by hand",
			operator: byHand(forgetful), story: []string{"killed after it has sent: create ConfigMap test/till-", "is there"},
		},
		{
			fault: "explore 7: another password after a crash", source: "Sieve: a crash", style: "by hand",
			operator: byHand(careless, "Secret"), story: []string{"a generated value changes", "Secret test/key"},
		},
		{
			fault: "explore 7: a password for each process", source: "arkmq-org-broker-operator#58", style: "by hand",
			operator: byHand(renewing, "Secret"), story: []string{"after a restart though nothing has changed", "Secret test/key", ".data.password"},
		},
		{
			fault: "explore 2: a disk stays small after a crash", source: "cluster-operator#782", style: "by hand", long: true,
			operator: byHand(expanding), story: []string{"killed", "ConfigMap test/set", "ConfigMap test/disk .metadata.labels.size"},
		},
		{
			fault: "explore 2: a crash leaves a disk", source: "casskop#370", style: "by hand", long: true,
			operator: byHand(shrinking), story: []string{"the operator is killed", "ConfigMap test/disk-1 is there"},
		},
		{
			fault: "explore 2: a failed request isn't sent again", source: "redpanda#980", style: "by hand",
			operator: byHand(givingUp), story: []string{"another state", "answers 500: get ConfigMap test/till", "ConfigMap test/till isn't there"},
		},
		{
			fault: "explore 2: what is refused isn't tried again", source: "Acto: recovery from an error", style: "by hand",
			operator: byHand(resigning), story: []string{"another state", "answers 422:", "ConfigMap test/till"},
		},
		{
			fault: "explore 11: a recreation that is refused", source: "hyperconverged-cluster-operator#1839", style: "by hand",
			operator: byHand(resurrecting), story: []string{"somebody deletes ConfigMap test/till before", "again and again", "resourceVersion"},
		},
		{
			fault: "explore 11: a change is taken for its own", source: "Sieve: an event in between", style: "by hand",
			operator: byHand(adopting), story: []string{"somebody changes ConfigMap test/till before the operator sends: get", ".data.size"},
		},
		{
			fault: "explore 11: what it did isn't what it reports", source: "Sieve: an event in between", style: "by hand",
			operator: byHand(mixing), story: []string{"happens before the operator sends", "ConfigMap test/till .metadata.labels.size"},
		},
		{
			fault: "explore 11: a replaced resource isn't seen", source: "Sieve: a missed event", style: "by hand",
			operator: byHand(mistaking), story: []string{"next step", ".status"},
		},
		{
			fault: "explore 13: a second child of two replicas", source: "Sieve: a late write", style: "by hand",
			operator: byHand(doubling), story: []string{"another replica takes over", "ConfigMap test/till-2 is there"},
		},
	}
}

// wrongByHand returns hand-written operators whose faults show at rest.
func wrongByHand() []faulty {
	return []faulty{
		{
			fault: "explore 6: an edit is ignored", source: "cluster-operator#992", style: "by hand",
			operator: byHand(deaf), story: []string{"an edited resource has what a new one would have", "spec.size: 2", `ConfigMap test/till .data.size: "1" -> "2"`},
		},
		{
			fault: "explore 10: a deleted child stays away", source: "toolhive#6343", style: "by hand",
			operator: byHand(blind), story: []string{"another state", "somebody deletes ConfigMap test/till", "ConfigMap test/till isn't there"},
		},
		{
			fault: "explore 10: children aren't watched", source: "scylla-operator#449", style: "by hand",
			operator: driven(unwatched), story: []string{"somebody deletes ConfigMap test/till", "ConfigMap test/till isn't there"},
		},
		{
			fault: "explore 6: a label is never removed", source: "tidb-operator#4942", style: "by hand",
			operator: byHand(clinging), story: []string{"left out", "ConfigMap test/till .metadata.labels"},
		},
		{
			fault: "explore 9: something is left", source: "kudo#1538", style: "by hand",
			operator: byHand(untidy), story: []string{"what is deleted leaves nothing", "ConfigMap test/left is there"},
		},
		{
			fault: "explore 9: it counts its reconciles", source: "Acto: the state differs", style: "by hand",
			operator: byHand(restless), story: []string{"writes though nothing has changed", "Shop test/tea status"},
		},
		{
			fault: "explore 9: a condition's time always moves", source: "knative/serving#1181", style: "by hand",
			operator: byHand(ticking), story: []string{"writes though nothing has changed", "Shop test/tea status"},
		},
		{
			fault: "explore 9: it is Ready too early", source: "btp-manager#216", style: "by hand",
			operator: byHand(early, "Deployment"), story: []string{"the status isn't true", "test/tea is Ready, but Deployment test/till isn't"},
		},
		{
			fault: "explore 32: it is Ready after a failure", source: "arkmq-org-broker-operator#674", style: "by hand",
			operator: byHand(swallowing, "Deployment"), story: []string{"the status isn't true", "create", "test/tea is Ready before Deployment test/till is there"},
		},
		{
			fault: "explore 9: an unchanged child is written", source: "cluster-operator#438", style: "by hand",
			operator: byHand(repeating), story: []string{"writes though nothing has changed", "ConfigMap test/till"},
		},
		{
			fault: "explore 15: what others scale stays", source: "clickhouse-operator#1535", style: "by hand",
			operator: byHand(trusting, "Deployment"), story: []string{"somebody changes Deployment test/till", ".spec.replicas: 1 -> 2"},
		},
	}
}

// street is an object of somebody else.
var street = &unstructured.Unstructured{Object: object("{apiVersion: v1, kind: ConfigMap, metadata: {name: street, namespace: test}}")}

// inOtherStyles returns operators with handlers, watchers and desired children.
func inOtherStyles() []faulty {
	others := Harness(reconciletest.Memory(dryrun.Objects(street)))
	return []faulty{
		{
			fault: "explore 2: a second object after a crash", source: "kong-operator#4649", style: "handlers",
			operator: driven(duplicating), story: []string{"killed after it has sent: create ConfigMap test/till-", "is there"},
		},
		{
			fault: "explore 6: a field is never removed", source: "starrocks-kubernetes-operator#581", style: "handlers",
			operator: driven(merging), story: []string{"left out", "ConfigMap test/door .data"},
		},
		{
			fault: "explore 9: it deletes what others have", source: "kubeblocks#9860", style: "handlers",
			operator: driven(greedy, others), story: []string{"changes what belongs to others", "ConfigMap test/street: it is deleted"},
		},
		{
			fault: "explore 2: what exists is a failure", source: "rook#9256", style: "watcher",
			operator: driven(insisting), story: []string{"ConfigMap test/stock"},
		},
		{
			fault: "explore 2: an edit during a crash is lost", source: "Sieve: a missed event", style: "watcher",
			operator: driven(edgeTriggered), story: []string{"another state", "killed", `ConfigMap test/stock .metadata.labels.size: "2" -> "1"`},
		},
		{
			fault: "explore 57: a deletion in an outage is lost", source: "Sieve: a missed event", style: "watcher",
			operator: driven(unheld), story: []string{"the next step happens before it is back", "delete Shop", "ConfigMap test/stock is there"},
		},
		{
			fault: "explore 6: the finalizer comes too late", source: "grafana-app-sdk: its wip finalizer", style: "watcher",
			operator: driven(heldLate), story: []string{"killed", "ConfigMap test/stock is there"},
		},
		{
			fault: "explore 6: surplus children stay", source: "quarks-operator#1023", style: "desired",
			operator: driven(keeping), story: []string{"an edit that is undone leaves nothing", "ConfigMap test/shelf-1 is there"},
		},
		{
			fault: "explore 9: a list in the status has no order", source: "clowder#148", style: "desired",
			operator: driven(unordered), story: []string{"doesn't come to rest", "test/tea", "shelves"},
		},
		{
			fault: "explore 9: it is Ready in any case", source: "shipwright-io/operator#50", style: "desired",
			operator: driven(hasty), story: []string{"the status isn't true", "Deployment test/till isn't"},
		},
	}
}
