package desired_test

import (
	"errors"
	"fmt"
	"testing"

	"github.com/operkit/operkit/deploy/dryrun"
	"github.com/operkit/operkit/reconcile/desired"
	"github.com/operkit/operkit/reconcile/event"
	"github.com/operkit/operkit/reconcile/reconciletest"
	"github.com/operkit/operkit/reconcile/request"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// events collects what is recorded.
type events []string

func (e *events) Record(one event.Event) {
	*e = append(*e, fmt.Sprintf("%s %s: %s", one.Type, one.Reason, one.Note))
}

// since returns the events since the last call.
func (e *events) since() []string {
	all := *e
	*e = nil
	return all
}

func recorded(t *testing.T, s desired.Syncer[desired.Unstructured], opts ...desired.Option) (*reconciletest.Harness, *events) {
	t.Helper()
	all := &events{}
	return reconciletest.Drive(t, desired.New(catSets, s, opts...), reconciletest.Events(all)), all
}

func TestEvents(t *testing.T) {
	t.Parallel()
	t.Run("desired 79: an event for each sort of change of a reconcile, which names the first children", func(t *testing.T) {
		t.Parallel()
		h, events := recorded(t, adopter{}, desired.Child(configMaps, desired.InPlace), desired.Child(pods, desired.Recreate))
		var many []any
		for i := range 7 {
			many = append(many, configMap(fmt.Sprint("c", i)))
		}
		h.Apply(labelled(configMap("orphan")))
		h.Apply(adopting(append(many, pod("p", "1"), labelled(configMap("orphan", "k=1")))...))
		h.RunUntilSettled()
		assert.Equal(t, []string{
			"Normal ChildAdopted: adopted ConfigMap orphan",
			"Normal ChildCreated: created ConfigMap c0, ConfigMap c1, ConfigMap c2, ConfigMap c3, ConfigMap c4, and 3 more",
			"Normal ChildChanged: changed ConfigMap orphan",
		}, events.since())
		want(h, pod("p", "2"), configMap("c0", "k=1"))
		h.RunUntilSettled()
		got := events.since()
		require.Len(t, got, 3)
		assert.Equal(t, []string{"Normal ChildChanged: changed ConfigMap c0", "Normal ChildRecreated: recreated Pod p"}, got[:2])
		assert.Contains(t, got[2], "Normal ChildDeleted: deleted ConfigMap c1, ")
		h.RunUntilSettled()
		h.Restart()
		h.RunUntilSettled()
		assert.Empty(t, events.since(), "it is settled")
	})
	t.Run("desired 79: a warning for a failure, once as long as it is the same", func(t *testing.T) {
		t.Parallel()
		var failure error
		s := script{also: func(desired.Request[desired.Unstructured], *desired.Response) error { return failure }}
		h, events := recorded(t, s, desired.Child(configMaps, desired.InPlace))
		h.Apply(parent())
		h.RunUntilSettled()
		again := func() []string {
			h.Bring("CatSet tom")
			_, _ = h.Reconcile("CatSet tom")
			return events.since()
		}
		failure = errors.New("no such image")
		assert.Equal(t, []string{"Warning SyncFailed: no such image"}, again())
		assert.Empty(t, again(), "the same")
		failure = request.Precondition("the moon isn't full")
		assert.Empty(t, again(), "waiting is no failure")
		failure = request.Passing(errors.New("soon"))
		assert.Empty(t, again(), "what passes isn't, either")
		failure = errors.New("another one")
		assert.Equal(t, []string{"Warning SyncFailed: another one"}, again())
		failure = nil
		assert.Empty(t, again())
		failure = errors.New("another one")
		assert.Equal(t, []string{"Warning SyncFailed: another one"}, again(), "it is back")
	})
	t.Run("desired 79: the reason says what has failed", func(t *testing.T) {
		t.Parallel()
		bad := configMap("bad")
		bad["data"] = map[string]any{"no/key": "x"}
		noStatus := script{also: func(_ desired.Request[desired.Unstructured], response *desired.Response) error {
			response.Status = 7
			return nil
		}}
		for _, row := range []struct {
			syncer desired.Syncer[desired.Unstructured]
			child  map[string]any
			want   string
		}{
			{script{}, bad, "Warning ChildFailed: "},
			{script{}, pod("a", "1"), "Warning ChildRefused: CatSet test/tom: child 0, Pod a: the kind Pod of v1 isn't declared"},
			{noStatus, configMap("a"), "Warning SyncFailed: status of type int"},
			{related{}, configMap("a"), "Warning SyncFailed: related: no answer"},
		} {
			h, events := recorded(t, row.syncer, desired.Child(configMaps, desired.InPlace))
			h.Apply(parent(row.child))
			_, err := h.Reconcile("CatSet tom")
			require.Error(t, err)
			got := events.since()
			require.NotEmpty(t, got, row.want)
			assert.Contains(t, got[len(got)-1], row.want)
		}
	})
	t.Run("desired 79: children of a cluster-scoped parent are named with their namespace", func(t *testing.T) {
		t.Parallel()
		all := &events{}
		h := reconciletest.Drive(t, desired.New(catSets, script{}, desired.Child(configMaps, desired.InPlace)),
			reconciletest.Memory(dryrun.AnyKind(catSets.GroupKind()), dryrun.Namespaces("other")), reconciletest.Events(all))
		child := configMap("a")
		child["metadata"].(map[string]any)["namespace"] = "other"
		h.Apply(parent(child))
		h.RunUntilSettled()
		assert.Equal(t, []string{"Normal ChildCreated: created ConfigMap other/a"}, all.since())
	})
}
