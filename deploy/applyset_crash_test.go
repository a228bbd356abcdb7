package deploy_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/operkit/operkit/deploy"
	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// deaths are the ways in which a process may end at a call.
var deaths = []string{"before the call", "after the call", "by its context"}

var errDead = errors.New("the process has ended")

// TestApplySetSurvivesItsEnd plays random sequences of folders, and ends the process at every single
// call of the second one in every way. Whatever the moment, no member is where the parent doesn't
// know of it, nothing foreign is touched, nothing that is wanted or protected is deleted, nothing is
// pruned before all is applied; and the next call makes it whole.
func TestApplySetSurvivesItsEnd(t *testing.T) {
	t.Parallel()
	for seed := range uint64(8) {
		t.Run(fmt.Sprint("seed ", seed), func(t *testing.T) {
			t.Parallel()
			s := newCrashStory(t, rand.New(rand.NewPCG(seed, 1)))
			for _, death := range deaths {
				for at := 1; s.play(t, death, at); at++ {
					require.Less(t, at, 500)
				}
			}
		})
	}
}

// TestApplySetSurvivesItsEndWithItsNamespace does so for a set that brings the namespace of its parent.
func TestApplySetSurvivesItsEndWithItsNamespace(t *testing.T) {
	t.Parallel()
	s := crashStory{second: objects(item(t, "ConfigMap", "shop", "a"), item(t, "Namespace", "", "shop"))}
	for _, death := range deaths[:2] {
		ended := true
		for at := 1; ended; at++ {
			cluster := setClusterOf(t)
			calls := 0
			end := func(when string) func(string) error {
				return func(string) error {
					if when == deaths[0] {
						calls++
					}
					if calls > at || calls == at && when == death {
						return errDead
					}
					return nil
				}
			}
			cluster.before, cluster.after = end(deaths[0]), end(deaths[1])
			m := must(deploy.NewManager(cluster, deploy.Concurrency(1)))
			_, err := m.ApplySet(t.Context(), shop, s.second)
			ended = calls >= at
			require.Equal(t, ended, err != nil)
			cluster.before, cluster.after = nil, nil
			s.check(t, cluster, nil, s.second, fmt.Sprint(death, " ", at))
			_, err = m.ApplySet(t.Context(), shop, s.second)
			require.NoError(t, err)
			s.checkWhole(t, cluster, s.second)
		}
	}
}

type crashStory struct {
	foreign              []*unstructured.Unstructured
	first, second, third []*unstructured.Unstructured
	deletable            []schema.GroupKind
}

func newCrashStory(t *testing.T, random *rand.Rand) crashStory {
	t.Helper()
	var pool []*unstructured.Unstructured
	for _, namespace := range []string{"shop", "east", "west"} {
		pool = append(pool, item(t, "ConfigMap", namespace, "a"), item(t, "ConfigMap", namespace, "b"), item(t, "Secret", namespace, "a"))
	}
	held := item(t, "ConfigMap", "east", "held")
	held.SetFinalizers([]string{"shop/hold"})
	pool = append(pool, item(t, "ClusterRole", "", "a"), item(t, "Namespace", "", "south"), claim(t), held)
	draw := func() (drawn []*unstructured.Unstructured) {
		chance := random.Float64()
		for _, obj := range pool {
			if random.Float64() < chance {
				drawn = append(drawn, obj)
			}
		}
		random.Shuffle(len(drawn), func(i, j int) { drawn[i], drawn[j] = drawn[j], drawn[i] })
		return drawn
	}
	s := crashStory{first: draw(), second: draw(), third: draw()}
	if random.IntN(2) == 0 {
		s.deletable = []schema.GroupKind{{Kind: "Namespace"}, persistentVolumeClaim}
	}
	other := deploy.ApplySet{Parent: deploy.Ref{Namespace: "shop", Name: "other"}}
	for _, kind := range []string{"ConfigMap", "Secret", "ClusterRole"} {
		for _, namespace := range []string{"shop", "east"} {
			if kind == "ClusterRole" {
				namespace = ""
			}
			s.foreign = append(s.foreign, item(t, kind, namespace, "foreign-"+namespace), inSet(item(t, kind, namespace, "other-"+namespace), other))
			if namespace == "" {
				break
			}
		}
	}
	return s
}

// play returns false when the process wasn't ended because it made fewer calls.
func (s crashStory) play(t *testing.T, death string, at int) bool {
	t.Helper()
	cluster := newSetCluster(t, s.foreign...)
	set := shop
	set.PruneAll, set.Deletable = true, s.deletable
	m := must(deploy.NewManager(cluster, deploy.Concurrency(1)))
	_, err := m.ApplySet(t.Context(), set, s.first)
	require.NoError(t, err)
	before := cluster.memory.Objects()

	ctx, cancel := context.WithCancelCause(t.Context())
	defer cancel(nil)
	calls, dead := 0, false
	cluster.before = func(call string) error {
		if strings.HasPrefix(call, "view") {
			if dead {
				return errDead
			}
			return nil
		}
		calls++
		switch {
		case dead:
			return errDead
		case calls != at:
		case death == "before the call":
			dead = true
			return errDead
		case death == "by its context":
			dead = true
			cancel(errDead)
		}
		return nil
	}
	cluster.after = func(string) error {
		if calls == at && death == "after the call" {
			dead = true
			return errDead
		}
		return nil
	}
	_, err = m.ApplySet(ctx, set, s.second)
	cluster.before, cluster.after = nil, nil
	if !dead {
		require.NoError(t, err)
	} else if death != "by its context" {
		require.ErrorIs(t, err, errDead)
	}
	s.check(t, cluster, before, s.second, fmt.Sprintf("%s %d of\n%s", death, at, strings.Join(cluster.take(), "\n")))

	between := cluster.memory.Objects()
	_, err = m.ApplySet(t.Context(), set, s.third)
	if !isTerminating(err) {
		require.NoError(t, err)
	}
	s.check(t, cluster, between, s.third, "afterwards")
	s.checkWhole(t, cluster, s.third)
	return dead
}

// isTerminating: an object that is still being deleted can't be applied.
func isTerminating(err error) bool {
	var terminating *deploy.TerminatingError
	return errors.As(err, &terminating)
}

func (s crashStory) check(t *testing.T, cluster *setCluster, before, wanted []*unstructured.Unstructured, when string) {
	t.Helper()
	now := map[deploy.Ref]*unstructured.Unstructured{}
	for _, obj := range cluster.memory.Objects() {
		now[deploy.RefOf(obj)] = obj
	}
	isWanted := map[deploy.Ref]bool{}
	for _, obj := range wanted {
		isWanted[deploy.RefOf(obj)] = true
	}
	var kinds, namespaces []string
	if parent := now[folder]; parent != nil {
		annotations := parent.GetAnnotations()
		kinds = strings.Split(annotations[deploy.SetKindsAnnotation], ",")
		namespaces = append(strings.Split(annotations[deploy.SetNamespacesAnnotation], ","), "shop", "")
	}
	for ref, obj := range now {
		if obj.GetLabels()[deploy.PartOfLabel] == shop.ID() {
			require.Contains(t, kinds, ref.Kind.GroupKind().String(), "%s is lost, %s", ref, when)
			require.Contains(t, namespaces, ref.Namespace, "%s is lost, %s", ref, when)
		}
	}
	allApplied := true
	for ref := range isWanted {
		allApplied = allApplied && now[ref] != nil
	}
	for _, obj := range before {
		ref := deploy.RefOf(obj)
		is := now[ref]
		member := obj.GetLabels()[deploy.PartOfLabel] == shop.ID()
		protected := len(s.deletable) == 0 && slices.Contains([]string{"Namespace", "PersistentVolumeClaim"}, ref.Kind.Kind)
		switch {
		case ref == folder:
			require.NotNil(t, is, "the parent is gone, %s", when)
			require.Equal(t, obj.GetUID(), is.GetUID())
		case !member:
			require.Equal(t, obj, is, "%s was touched, %s", ref, when)
		case isWanted[ref] || protected:
			require.NotNil(t, is, "%s is gone, %s", ref, when)
			require.Equal(t, obj.GetUID(), is.GetUID(), when)
			require.Equal(t, obj.GetDeletionTimestamp(), is.GetDeletionTimestamp(), when)
		case is == nil || is.GetDeletionTimestamp() != nil && obj.GetDeletionTimestamp() == nil:
			require.True(t, allApplied, "%s was pruned before all was applied, %s", ref, when)
		}
	}
}

// checkWhole: the members are the wanted objects, and those that are kept or held; the parent says so.
func (s crashStory) checkWhole(t *testing.T, cluster *setCluster, wanted []*unstructured.Unstructured) {
	t.Helper()
	kinds, namespaces := map[string]bool{}, map[string]bool{}
	note := func(ref deploy.Ref) {
		kinds[ref.Kind.GroupKind().String()] = true
		namespaces[ref.Namespace] = true
	}
	isWanted := map[deploy.Ref]bool{}
	for _, obj := range wanted {
		isWanted[deploy.RefOf(obj)] = true
		note(deploy.RefOf(obj))
		require.NotNil(t, cluster.get(t, deploy.RefOf(obj)))
	}
	terminating := slices.ContainsFunc(wanted, func(obj *unstructured.Unstructured) bool {
		return cluster.get(t, deploy.RefOf(obj)).GetDeletionTimestamp() != nil
	})
	for _, obj := range cluster.memory.Objects() {
		ref := deploy.RefOf(obj)
		if obj.GetLabels()[deploy.PartOfLabel] != shop.ID() {
			continue
		}
		note(ref)
		if isWanted[ref] {
			continue
		}
		kept := len(s.deletable) == 0 && slices.Contains([]string{"Namespace", "PersistentVolumeClaim"}, ref.Kind.Kind)
		require.True(t, kept || obj.GetDeletionTimestamp() != nil || terminating, "%s was left", ref)
	}
	if terminating {
		return // one of the wanted objects can't be applied yet: nothing was pruned
	}
	delete(namespaces, "")
	delete(namespaces, "shop")
	got := cluster.remembered(t, folder)
	require.Equal(t, sortedKeys(kinds), split(got[0]))
	require.Equal(t, sortedKeys(namespaces), split(got[1]))
}

func sortedKeys(set map[string]bool) []string {
	keys := []string{}
	for key := range set {
		keys = append(keys, key)
	}
	slices.Sort(keys)
	return keys
}

func split(text string) []string {
	if text == "" {
		return []string{}
	}
	return strings.Split(text, ",")
}
