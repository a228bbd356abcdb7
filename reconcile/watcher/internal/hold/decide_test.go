package hold_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/operkit/operkit/reconcile/watcher/internal/hold"
	"github.com/operkit/operkit/reconcile/watcher/internal/work"
	"github.com/stretchr/testify/assert"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

var names = hold.Names{Final: "example.dev/final", InProgress: "example.dev/begun"}

// object returns an object of a generation with finalizers: F and P are the own ones.
func object(generation int64, finalizers string, isDeleting bool) *work.Object {
	o := &unstructured.Unstructured{Object: map[string]any{"metadata": map[string]any{"name": "a"}, "spec": map[string]any{"size": generation}}}
	o.SetGeneration(generation)
	var list []string
	for _, f := range strings.Fields(finalizers) {
		list = append(list, map[string]string{"F": names.Final, "P": names.InProgress}[f])
		if f != "F" && f != "P" {
			list[len(list)-1] = f
		}
	}
	o.SetFinalizers(list)
	if isDeleting {
		o.Object["metadata"].(map[string]any)["deletionTimestamp"] = "2030-01-01T00:00:00Z"
	}
	return o
}

func TestDecide(t *testing.T) {
	t.Parallel()
	full := hold.Rules{Names: names, Needed: true}
	short := hold.Rules{Names: hold.Names{Final: names.Final}, Needed: true}
	unneeded := hold.Rules{Names: names}
	anyChange := hold.Rules{Names: names, Needed: true, AnyChange: true}
	reconciler := hold.Rules{Names: names, Needed: true, IsReconciler: true}
	const live, deleting = false, true
	for _, row := range []struct {
		reason          string
		rules           hold.Rules
		action          work.Action
		old, generation int64
		was, finalizers string
		isDeleting      bool
		want            hold.Plan
	}{
		{"an object without finalizers: begun, added, held", full, work.Create, 0, 1, "", "", live, hold.Plan{Before: hold.Begin, Call: work.Create, After: hold.Finish}},
		{"one that was begun is added again", full, work.Create, 0, 1, "", "P", live, hold.Plan{Call: work.Create, After: hold.Finish}},
		{"without the one for the time of Add", short, work.Create, 0, 1, "", "", live, hold.Plan{Call: work.Create, After: hold.Finish}},
		{"one that is held was added before this process", full, work.Create, 0, 1, "", "F", live, hold.Plan{Call: work.Resync}},
		{"what was left of the time of Add is removed at any event", full, work.Create, 0, 1, "", "F P", live, hold.Plan{Call: work.Resync, After: hold.Tidy}},
		{"also if the event is none for the watcher", full, work.Update, 2, 2, "F P", "F P", live, hold.Plan{After: hold.Tidy}},
		{"the same generation is no update", full, work.Update, 2, 2, "F", "F", live, hold.Plan{}},
		{"unless any change counts", anyChange, work.Update, 2, 2, "F", "F", live, hold.Plan{Call: work.Update}},
		{"a new generation is", full, work.Update, 1, 2, "F", "F", live, hold.Plan{Call: work.Update}},
		{"without a generation each change is", full, work.Update, 0, 0, "F", "F", live, hold.Plan{Call: work.Update}},
		{"but not that of the own finalizer", full, work.Update, 0, 0, "P", "F", live, hold.Plan{}},
		{"a new generation together with it is", full, work.Update, 1, 2, "P", "F", live, hold.Plan{Call: work.Update}},
		{"a finalizer that somebody removed: added anew, whatever the generation", full, work.Update, 2, 2, "F", "", live, hold.Plan{Before: hold.Begin, Call: work.Create, After: hold.Finish}},
		{"also at a resync", full, work.Resync, 2, 2, "", "", live, hold.Plan{Before: hold.Begin, Call: work.Create, After: hold.Finish}},
		{"a resync of one that is held", full, work.Resync, 2, 2, "", "F", live, hold.Plan{Call: work.Resync}},
		{"a deletion, also with the same generation", full, work.Update, 2, 2, "F", "F", deleting, hold.Plan{Call: work.Delete, After: hold.Release}},
		{"a deletion while it is added", full, work.Update, 1, 2, "P", "P", deleting, hold.Plan{Call: work.Delete, After: hold.Release}},
		{"a deletion that the process sees first", full, work.Create, 0, 2, "", "F other.dev/x", deleting, hold.Plan{Call: work.Delete, After: hold.Release}},
		{"a deletion of an object that isn't held is nobody's", full, work.Create, 0, 2, "", "other.dev/x", deleting, hold.Plan{}},
		{"an object that is gone was handled", full, work.Delete, 0, 2, "", "F", live, hold.Plan{}},
		{"without Delete no finalizer is added", unneeded, work.Create, 0, 1, "", "", live, hold.Plan{Call: work.Create}},
		{"but an update is one", unneeded, work.Update, 1, 2, "", "", live, hold.Plan{Call: work.Update}},
		{"and one that is there is removed with the object", unneeded, work.Update, 1, 2, "F", "F", deleting, hold.Plan{Call: work.Delete, After: hold.Release}},
		{"a reconciler is called for a new object", reconciler, work.Create, 0, 1, "", "P", live, hold.Plan{Call: work.Create, After: hold.Finish}},
		{"for a resync of one that isn't held", reconciler, work.Resync, 1, 1, "", "P", live, hold.Plan{Call: work.Resync, After: hold.Finish}},
		{"for an update only when it is held", reconciler, work.Update, 1, 2, "", "", live, hold.Plan{Before: hold.Finish, Again: true}},
		{"and then for each one", reconciler, work.Update, 2, 2, "F", "F", live, hold.Plan{Call: work.Update}},
	} {
		t.Run("watcher 15: "+row.reason, func(t *testing.T) {
			t.Parallel()
			now := object(row.generation, row.finalizers, row.isDeleting)
			call := work.Call{Action: row.action, Old: object(row.old, row.was, false), Object: now}
			assert.Equal(t, row.want, row.rules.Decide(call, now))
		})
	}
}

func TestFinalizers(t *testing.T) {
	t.Parallel()
	for _, row := range []struct {
		reason     string
		present    string
		write      hold.Write
		isDeleting bool
		want       string
	}{
		{"begin adds at the end", "x y", hold.Begin, false, "x y P"},
		{"not to one that is held", "x F", hold.Begin, false, "x F"},
		{"not to one that is being deleted", "x", hold.Begin, true, "x"},
		{"finish takes the place", "x P y", hold.Finish, false, "x F y"},
		{"finish adds", "x", hold.Finish, false, "x F"},
		{"finish removes what was left", "P x F", hold.Finish, false, "x F"},
		{"nothing new on one that is being deleted", "x P", hold.Finish, true, "x P"},
		{"tidy", "P x F", hold.Tidy, false, "x F"},
		{"release", "P x F y", hold.Release, true, "x y"},
		{"keep", "P x", hold.Keep, false, "P x"},
	} {
		t.Run("watcher 17: "+row.reason, func(t *testing.T) {
			t.Parallel()
			before := object(1, row.present, row.isDeleting)
			got, changed := names.Finalizers(before, row.write)
			assert.Equal(t, object(1, row.want, false).GetFinalizers(), got)
			assert.Equal(t, row.present != row.want, changed)
			assert.Equal(t, object(1, row.present, row.isDeleting), before, "the object stays as it is")
		})
	}
}

func FuzzForeignFinalizers(f *testing.F) {
	f.Add("x P y F", 1, true)
	f.Add("F F x", 4, false)
	f.Fuzz(func(t *testing.T, present string, write int, isDeleting bool) {
		foreign := func(list []string) []string {
			return slices.DeleteFunc(slices.Clone(list), func(name string) bool { return name == names.Final || name == names.InProgress })
		}
		before := object(1, present, isDeleting)
		after, _ := names.Finalizers(before, hold.Write(write))
		assert.Equal(t, fmt.Sprint(foreign(before.GetFinalizers())), fmt.Sprint(foreign(after)), "those of others stay, in their order")
	})
}
