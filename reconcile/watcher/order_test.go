package watcher

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/operkit/operkit/deploy"
	"github.com/operkit/operkit/deploy/dryrun"
	"github.com/operkit/operkit/reconcile/request"
	"github.com/operkit/operkit/reconcile/watch"
	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
)

// TestOrder plays an object that is created, changed, deleted and created again at random, also while a pass reads it
// and while a watcher works. The view is ahead of the events.
func TestOrder(t *testing.T) {
	t.Run("watcher 60: each object is added, updated and deleted in this order, and its last state is handled", func(t *testing.T) {
		for seed := range uint64(500) {
			o := newOrder(t, seed)
			o.play()
			if len(o.wrong) > 0 {
				t.Fatalf("seed %d: %v\n%v", seed, o.wrong, o.lines)
			}
		}
	})
}

// order is one play of TestOrder: a cluster with one name, and what its watchers have seen.
type order struct {
	deploy.Cluster
	deploy.View
	t       *testing.T
	random  *rand.Rand
	now     time.Time
	made    *dispatcher
	object  *unstructured.Unstructured
	version int
	// inbox has the events that aren't observed yet, and gone the uids whose deletion was observed.
	inbox []deploy.Event
	gone  map[types.UID]bool
	// isQueued: an event brings another pass. due is when the next pass is due without one, zero for none.
	isQueued bool
	due      time.Time
	// isCalm: nothing happens, and nothing fails.
	isCalm bool
	seen   map[string]*lifeSeen
	lines  []string
	wrong  []string
}

// lifeSeen is what a watcher has seen of the present object.
type lifeSeen struct {
	uid            types.UID
	added, deleted bool
	// version is the last one that was handled.
	version string
}

type orderCluster struct {
	deploy.Cluster
	*order
}

func (c orderCluster) View() deploy.View { return c.order }

func newOrder(t *testing.T, seed uint64) *order {
	o := &order{
		t: t, random: rand.New(rand.NewPCG(seed, 0)), now: time.Date(2030, 1, 1, 0, 0, 0, 0, time.UTC),
		gone: map[types.UID]bool{}, seen: map[string]*lifeSeen{},
	}
	memory, err := dryrun.New(dryrun.AnyKind())
	require.NoError(t, err)
	o.View = memory.View()
	manager, err := deploy.NewManager(orderCluster{memory, o})
	require.NoError(t, err)
	watchers := New[unstructured.Unstructured](items, Retry(Exponential(time.Second, 1000)), Add("slow", o.watcher("slow")), Add("next", o.watcher("next")))
	made, err := watchers.Reconciler(t.Context(), watch.Env{Manager: manager, Logger: slog.New(slog.DiscardHandler), Now: func() time.Time { return o.now }})
	require.NoError(t, err)
	o.made = made.(*dispatcher)
	return o
}

// Get implements deploy.View.
func (o *order) Get(context.Context, deploy.Ref) (*unstructured.Unstructured, error) {
	o.happen()
	read := o.object
	o.happen()
	return read, nil
}

func (o *order) play() {
	for range 40 {
		o.happen()
		o.pass()
	}
	o.isCalm = true
	for len(o.inbox) > 0 || o.isQueued || !o.due.IsZero() {
		for len(o.inbox) > 0 {
			o.deliver()
		}
		o.pass()
	}
	o.end()
}

// happen lets some changes of the object happen, and some events be observed.
func (o *order) happen() {
	if o.isCalm {
		return
	}
	for range o.random.IntN(3) {
		if o.random.IntN(2) == 0 {
			o.change()
		} else {
			o.deliver()
		}
	}
}

// change creates, changes or deletes the object.
func (o *order) change() {
	o.version++
	before := o.object
	switch {
	case before == nil:
		o.object = &unstructured.Unstructured{Object: map[string]any{}}
		o.object.SetGroupVersionKind(items)
		o.object.SetNamespace("default")
		o.object.SetName("a")
		o.object.SetUID(types.UID(fmt.Sprint("u", o.version)))
		o.object.SetResourceVersion(fmt.Sprint(o.version))
		o.inbox = append(o.inbox, added(o.object))
	case o.random.IntN(3) == 0:
		o.object = nil
		o.inbox = append(o.inbox, deleted(before))
	default:
		o.object = before.DeepCopy()
		o.object.SetResourceVersion(fmt.Sprint(o.version))
		o.inbox = append(o.inbox, modified(before, o.object))
	}
}

// deliver observes the next event, as an engine does.
func (o *order) deliver() {
	if len(o.inbox) == 0 {
		return
	}
	event := o.inbox[0]
	o.inbox = o.inbox[1:]
	o.note("%s %s/%s", event.Type, event.New.GetUID(), event.New.GetResourceVersion())
	o.made.Observe(event)
	if event.Type == deploy.Deleted {
		o.gone[event.New.GetUID()] = true
		o.made.Forget(deploy.RefOf(event.New))
	}
	o.isQueued = true
}

// pass makes a pass if an event, or else the time, brings one.
func (o *order) pass() {
	switch {
	case o.isQueued:
	case o.due.IsZero():
		return
	case o.isCalm || o.random.IntN(2) == 0:
		o.now = o.due
	default:
		return
	}
	o.isQueued, o.due = false, time.Time{}
	o.note("pass")
	result, err := o.made.Reconcile(o.t.Context(), request.Request{Key: ref("a")})
	require.NoError(o.t, err)
	if result.RequeueAfter > 0 {
		o.due = o.now.Add(result.RequeueAfter)
	}
}

func (o *order) note(format string, args ...any) {
	o.lines = append(o.lines, fmt.Sprintf(format, args...))
}

func (o *order) watcher(name string) Watcher[unstructured.Unstructured] {
	o.seen[name] = &lifeSeen{}
	call := func(action Action, old, object *unstructured.Unstructured) error {
		if wrong := o.seen[name].begins(o, action, old, object); wrong != "" {
			o.wrong = append(o.wrong, fmt.Sprintf("%s %s %s/%s: %s", name, action, object.GetUID(), object.GetResourceVersion(), wrong))
		}
		o.happen()
		fails := !o.isCalm && o.random.IntN(3) == 0
		o.note("%s %s %s/%s fails=%v", name, action, object.GetUID(), object.GetResourceVersion(), fails)
		if fails {
			return errors.New("boom")
		}
		o.seen[name].succeeded(action, object)
		return nil
	}
	return Simple(Funcs[unstructured.Unstructured]{
		Add: func(_ context.Context, object *unstructured.Unstructured) error { return call(Created, nil, object) },
		Update: func(_ context.Context, old, object *unstructured.Unstructured) error {
			return call(Updated, old, object)
		},
		Delete: func(_ context.Context, object *unstructured.Unstructured) error { return call(Deleted, nil, object) },
	})
}

// begins returns what is wrong with a call, empty for nothing.
func (s *lifeSeen) begins(o *order, action Action, old, object *unstructured.Unstructured) string {
	uid := object.GetUID()
	if s.uid == "" && action == Created {
		s.uid = uid
	}
	switch {
	case uid != s.uid:
		return "the calls for " + string(s.uid) + " haven't ended"
	case action != Deleted && (s.deleted || o.gone[uid]):
		return "it is gone"
	case action == Deleted && !o.gone[uid]:
		return "it isn't gone"
	case action != Deleted && s.added != (action == Updated):
		return fmt.Sprintf("added before: %v", s.added)
	case action == Updated && old.GetResourceVersion() != s.version:
		return "from " + old.GetResourceVersion() + ", and what was handled is " + s.version
	case action == Updated && object.GetResourceVersion() == s.version:
		return "it was handled"
	}
	s.deleted = action == Deleted
	return ""
}

func (s *lifeSeen) succeeded(action Action, object *unstructured.Unstructured) {
	s.added, s.version = true, object.GetResourceVersion()
	if action == Deleted {
		*s = lifeSeen{}
	}
}

// end checks what was handled in the end, and that nothing is left to do.
func (o *order) end() {
	want := lifeSeen{}
	if o.object != nil {
		want = lifeSeen{uid: o.object.GetUID(), added: true, version: o.object.GetResourceVersion()}
	}
	for name, seen := range o.seen {
		if *seen != want {
			o.wrong = append(o.wrong, fmt.Sprintf("%s ends with %v, and not with %v", name, *seen, want))
		}
	}
	for _, e := range o.made.objects.entries {
		if e.works != nil || e.uid != want.uid || o.object == nil {
			o.wrong = append(o.wrong, fmt.Sprintf("left: %v", *e))
		}
	}
}
