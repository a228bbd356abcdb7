package deploytest

import (
	"slices"
	"strings"
	"sync"

	"github.com/operkit/operkit/deploy"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// eventLog records the events of the objects that a case creates, in the order of their arrival.
type eventLog struct {
	mu     sync.Mutex
	events []deploy.Event
}

// handle records an event, except for objects that the cluster creates in every namespace.
func (h *eventLog) handle(event deploy.Event) {
	if strings.HasPrefix(event.New.GetName(), "kube-") {
		return
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	h.events = append(h.events, event)
}

func (h *eventLog) all() []deploy.Event {
	h.mu.Lock()
	defer h.mu.Unlock()
	return slices.Clone(h.events)
}

// texts returns the events so far, in the form "ADDED settings".
func (h *eventLog) texts() []string {
	return each(h.all(), func(event deploy.Event) string { return string(event.Type) + " " + event.New.GetName() })
}

// subscribe returns a log that records the events of a kind. The log already has the events of existing objects.
func (s *scene) subscribe(kind schema.GroupVersionKind) *eventLog {
	s.Helper()
	h := &eventLog{}
	subscription, err := s.Cluster.View().Subscribe(s.Context(), kind, h.handle)
	s.ok(err)
	s.synced(subscription)
	return h
}

// synced waits until a subscription has delivered the existing objects. It retries while the cluster can't be read, for
// example because it has just begun to serve the kind.
func (s *scene) synced(subscription deploy.Subscription) {
	s.Helper()
	var err error
	s.eventually(func() bool {
		err = subscription.Synced(s.Context())
		return !isA[*deploy.UnavailableError](err)
	}, "the subscription is in sync")
	s.ok(err)
}

// delivers waits for as many events as want has, and fails the case if the log has other events.
func (s *scene) delivers(h *eventLog, want ...string) {
	s.Helper()
	s.eventually(func() bool { return len(h.all()) >= len(want) }, "the events "+strings.Join(want, ", ")+" are delivered")
	equal(s, want, h.texts(), "events")
}

var eventCases = []Case{
	{"events/what exists", "when Synced returns, all existing objects have been delivered", func(s *scene) {
		s.three()
		texts := s.subscribe(configMap).texts()
		slices.Sort(texts)
		equal(s, []string{"ADDED a", "ADDED b", "ADDED c"}, texts, "events")
	}},
	{"events/in order", "the events of an object come in their order", func(s *scene) {
		h := s.subscribe(configMap)
		first := s.create("operkit", s.settings("{a: '1'}"))
		second := s.merge("operkit", deploy.RefOf(first), `{"data":{"a":"2"}}`)
		s.delivers(h, "ADDED settings", "MODIFIED settings")
		s.delete(deploy.RefOf(first))
		s.delivers(h, "ADDED settings", "MODIFIED settings", "DELETED settings")
		events := h.all()
		s.is(events[0].Old == nil, "Old of the Added event: %v", events[0].Old)
		equal(s, held(first), held(events[0].New), "object of the Added event")
		equal(s, held(first), held(events[1].Old), "Old of the Modified event")
		equal(s, held(second), held(events[1].New), "New of the Modified event")
		equal(s, "2", data(events[2].Old)["a"], "a in Old of the Deleted event")
		equal(s, "2", data(events[2].New)["a"], "a in New of the Deleted event")
	}},
	{"events/of others", "writes of others cause events", func(s *scene) {
		h := s.subscribe(configMap)
		ref := deploy.RefOf(s.others().create("kubectl", s.settings("{a: '1'}")))
		s.delivers(h, "ADDED settings")
		s.others().merge("kubectl", ref, `{"data":{"a":"2"}}`)
		s.delivers(h, "ADDED settings", "MODIFIED settings")
		s.others().delete(ref)
		s.delivers(h, "ADDED settings", "MODIFIED settings", "DELETED settings")
	}},
	{"events/across uids", "a new object of the same name causes the event Added, not Modified", func(s *scene) {
		h := s.subscribe(configMap)
		first := s.create("operkit", s.settings("{a: '1'}"))
		s.delete(deploy.RefOf(first))
		second := s.create("operkit", s.settings("{a: '1'}"))
		s.delivers(h, "ADDED settings", "DELETED settings", "ADDED settings")
		events := h.all()
		equal(s, first.GetUID(), events[1].New.GetUID(), "uid in the Deleted event")
		equal(s, second.GetUID(), events[2].New.GetUID(), "uid in the second Added event")
	}},
	{"events/nothing happened", "a write without a change causes no event", func(s *scene) {
		h := s.subscribe(configMap)
		obj := s.apply("operkit", s.settings("{a: '1'}"))
		s.apply("operkit", s.settings("{a: '1'}"))
		s.merge("kubectl", deploy.RefOf(obj), `{"data":{"a":"1"}}`)
		s.create("operkit", s.config("last", "{}"))
		s.delivers(h, "ADDED settings", "ADDED last")
	}},
	{"events/being deleted", "a deletion that waits for finalizers is a change", func(s *scene) {
		s.widgets()
		h := s.subscribe(widget)
		obj := s.held("operkit.dev/a")
		s.merge("operkit", deploy.RefOf(obj), `{"metadata":{"finalizers":null}}`)
		s.eventually(func() bool {
			return slices.ContainsFunc(h.all(), func(event deploy.Event) bool { return event.Type == deploy.Deleted })
		}, "the deletion is delivered")
		events := h.all()
		equal(s, deploy.Added, events[0].Type, "first event")
		equal(s, deploy.Modified, events[1].Type, "second event")
		s.is(events[1].New.GetDeletionTimestamp() != nil, "no deletionTimestamp in the second event")
	}},
	{"events/reads are never older", "a read in a handler is at least as new as the event", func(s *scene) {
		h := s.subscribe(configMap)
		obj := s.others().create("kubectl", s.settings("{a: '1'}"))
		s.delivers(h, "ADDED settings")
		s.is(s.seen(deploy.RefOf(obj)) != nil, "the View doesn't show an object whose event was delivered")
	}},
	{"events/two subscribers", "each subscriber gets all events", func(s *scene) {
		one := s.subscribe(configMap)
		s.create("operkit", s.settings("{}"))
		two := s.subscribe(configMap)
		s.delivers(one, "ADDED settings")
		s.delivers(two, "ADDED settings")
	}},
	{"events/in a scope", "an object that enters a scope is Added, and an object that leaves it is Deleted", func(s *scene) {
		h := &eventLog{}
		m := s.managerOf(s.Cluster)
		scope := deploy.WatchScope{Namespace: s.Namespace, Labels: s.selecting("tier=web")}
		subscription, err := m.Watch(s.Context(), configMap, scope, h.handle)
		s.ok(err)
		s.synced(subscription)
		ref := deploy.RefOf(s.create("operkit", s.settings("{}")))
		for _, patch := range []string{`{"tier":"web"}`, `{"more":"x"}`, `{"tier":"db"}`, `{"tier":"web"}`} {
			s.merge("operkit", ref, `{"metadata":{"labels":`+patch+`}}`)
		}
		s.delete(ref)
		s.delivers(h, "ADDED settings", "MODIFIED settings", "DELETED settings", "ADDED settings", "DELETED settings")
	}},
	{"events/out of a scope with the last write", "if a write removes the last finalizer, the Deleted event has the object as it was stored before that write", func(s *scene) {
		h := &eventLog{}
		scope := deploy.WatchScope{Namespace: s.Namespace, Labels: s.selecting("tier=web")}
		subscription, err := s.managerOf(s.Cluster).Watch(s.Context(), configMap, scope, h.handle)
		s.ok(err)
		s.synced(subscription)
		ref := deploy.RefOf(s.create("operkit", finalized(labelled(s.settings("{}"), "tier", "web"))))
		s.delete(ref)
		s.delivers(h, "ADDED settings", "MODIFIED settings")
		s.others().merge("kubectl", ref, `{"metadata":{"labels":{"tier":"db"},"finalizers":null}}`)
		s.delivers(h, "ADDED settings", "MODIFIED settings", "DELETED settings")
	}},
}
