package deploytest

import (
	"slices"
	"sync/atomic"
	"testing"
	"time"

	"github.com/operkit/operkit/deploy"
)

// World is what one case works with.
type World struct {
	// Cluster is the one that is held to the contract. It may do everything in Namespace.
	Cluster deploy.Cluster
	// Namespace exists, and belongs to the case alone. What a cluster puts into every new namespace may
	// be there.
	Namespace string
	// Others is the same cluster as somebody else uses it, who may do everything everywhere: what is
	// written through it isn't Cluster's own write. Nil: Cluster, which then may do everything.
	Others deploy.Cluster
}

// Case is one thing that every cluster does.
type Case struct {
	// Name is unique, and its first words, up to a slash, are the family of the case.
	Name string
	// Reason says who relies on it.
	Reason string
	run    func(s *scene)
}

// Run runs all cases as subtests, in parallel, and logs how many there are and how many passed. It fails
// unless all did, also when the test command was told to run some of them only. open is called by each
// case with its own t and returns a world for it alone; namespaces and definitions are what worlds of
// one cluster may share. open sees to its cleaning up by t.Cleanup. The cases define kinds of the group
// deploytest.operkit.dev through Others, and leave them there.
func Run(t *testing.T, open func(t *testing.T) World) {
	t.Helper()
	var passed atomic.Int64
	all := Cases()
	t.Run("cases", func(t *testing.T) {
		for _, c := range all {
			t.Run(c.Name, func(t *testing.T) {
				t.Parallel()
				t.Cleanup(func() {
					if !t.Failed() && !t.Skipped() {
						passed.Add(1)
					} else {
						t.Logf("this matters: %s", c.Reason)
					}
				})
				c.runIn(t, open(t), patience)
			})
		}
	})
	t.Logf("deploytest: %d of %d cases passed", passed.Load(), len(all))
	if int(passed.Load()) != len(all) {
		t.Fail()
	}
}

func (c Case) runIn(t tester, world World, patience time.Duration) {
	if world.Others == nil {
		world.Others = world.Cluster
	}
	c.run(&scene{tester: t, World: world, patience: patience})
}

// Cases returns all cases, in the order in which Run starts them.
func Cases() []Case {
	return slices.Concat(kindCases, createCases, updateCases, immutableCases, applyCases, ownershipCases, mergeCases, patchCases,
		statusCases, deleteCases, finalizerCases, garbageCases, listCases, viewCases, eventCases, managerCases, removalCases,
		conflictCases, strategyCases, ownerCases, setCases, applySetCases,
		concurrentCases, contextCases, namespaceCases)
}
