package deploytest

import (
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/operkit/operkit/deploy"
)

// World is the environment of one case.
type World struct {
	// Cluster is the cluster under test. It needs all permissions in Namespace.
	Cluster deploy.Cluster
	// Namespace is a namespace that exists and that only this case uses. It may have the objects that the cluster
	// creates in every new namespace.
	Namespace string
	// Others is another client of the same cluster, with all permissions in all namespaces. A write through Others
	// isn't an own write of Cluster, so the View of Cluster may show it later. If Others is nil, Cluster is used
	// instead, and needs these permissions.
	Others deploy.Cluster
	// Selects means that Cluster selects the objects of SelectedKind by Selector, see the option Selected of
	// deploy/cluster. Others must be set then, and doesn't select. If Selects is false, the cases of the group
	// selection test nothing.
	Selects bool
}

// Case is a test of one property that every cluster must have.
type Case struct {
	// Name is unique. The part before the slash is the group of the case.
	Name string
	// Reason says why the property matters.
	Reason string
	run    func(s *scene)
}

// Run runs all cases as parallel subtests, and logs how many there are and how many passed. It fails unless all cases
// passed, so it also fails if the test command selects only some cases. Each case calls open with its own t. open
// returns the World of the case, and registers its cleanup by t.Cleanup. Worlds of one cluster share its namespaces and
// CustomResourceDefinitions. The cases define kinds of the group deploytest.operkit.dev through Others, and don't
// delete them.
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
						t.Logf("reason for this case: %s", c.Reason)
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
	if strings.HasPrefix(c.Name, selectionGroup) && !world.Selects {
		return
	}
	c.run(&scene{tester: t, World: world, patience: patience})
}

// Cases returns all cases in the order in which Run starts them.
func Cases() []Case {
	return slices.Concat(kindCases, createCases, updateCases, immutableCases, applyCases, ownershipCases, mergeCases, patchCases,
		statusCases, statusApplyCases, deleteCases, finalizerCases, garbageCases, listCases, viewCases, eventCases, selectionCases, managerCases, removalCases,
		conflictCases, strategyCases, ownerCases, setCases, applySetCases,
		concurrentCases, contextCases, namespaceCases)
}
