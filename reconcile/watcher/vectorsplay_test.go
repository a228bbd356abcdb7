package watcher

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"time"

	"github.com/operkit/operkit/deploy"
	"github.com/operkit/operkit/deploy/dryrun"
	"github.com/operkit/operkit/reconcile/filter"
	"github.com/operkit/operkit/reconcile/request"
	"github.com/operkit/operkit/reconcile/watch"
	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
)

var items = schema.GroupVersionKind{Group: "example.dev", Version: "v1", Kind: "Item"}

// call is one call in a play, or a recorded one.
type call struct {
	at, end     time.Duration
	who, object string
	action      string
	generation  int64
	old         int64
	failed      bool
	// givenUp: it isn't repeated.
	givenUp bool
	attempt int
	state   any
	// event is the number of the last event of the object before the call.
	event int
}

// play plays the events of a case on a clock of its own, without an engine: one pass after the other, when it is due.
type play struct {
	t       require.TestingT
	input   map[string]any
	now     time.Time
	begin   time.Time
	objects map[deploy.Ref]*unstructured.Unstructured
	lives   map[deploy.Ref]int
	due     map[deploy.Ref]time.Time
	events  map[deploy.Ref]int

	watchers   *Watchers[unstructured.Unstructured]
	handles    map[string]*Handle
	reconciler watch.Reconciler
	// unreadable is the error of reads, nil for none.
	unreadable error
	// quiet: calls succeed and aren't noted.
	quiet    bool
	calls    []call
	failures []Failure
	asked    []Question
	counts   map[string]int
	versions int
}

// Get implements deploy.View for the objects of the play.
type playView struct {
	deploy.View
	*play
}

func (v playView) Get(_ context.Context, ref deploy.Ref) (*unstructured.Unstructured, error) {
	return v.objects[ref], v.unreadable
}

type playCluster struct {
	deploy.Cluster
	*play
}

func (c playCluster) View() deploy.View { return playView{c.Cluster.View(), c.play} }

func seconds(value any) time.Duration {
	switch v := value.(type) {
	case int64:
		return time.Duration(v) * time.Second
	case float64:
		return time.Duration(v * float64(time.Second))
	}
	return 0
}

func listOf(value any) []map[string]any {
	var list []map[string]any
	all, _ := value.([]any)
	for _, one := range all {
		list = append(list, one.(map[string]any))
	}
	return list
}

// errorsOf returns the policy of a case.
func policyOf(input map[string]any) RetryPolicy {
	policy := input["policy"].(map[string]any)
	initial, most := seconds(policy["initial_s"]), policy["max"]
	switch policy["kind"] {
	case "exponential":
		return Exponential(initial, int(most.(int64)))
	case "constant":
		return func(_ error, attempt int) (time.Duration, bool) { return initial, attempt < int(most.(int64)) }
	case "never":
		return func(error, int) (time.Duration, bool) { return 0, false }
	case "not-delete":
		limit, _ := most.(int64)
		return func(err error, attempt int) (time.Duration, bool) {
			return initial, !strings.Contains(err.Error(), "delete") && (limit == 0 || attempt < int(limit))
		}
	}
	return nil
}

func dequeueOf(name any) DequeuePolicy {
	switch name {
	case "opinionated":
		return Opinionated
	case "never":
		return func(Question) bool { return false }
	case "always":
		return func(Question) bool { return true }
	case "same-action":
		return func(q Question) bool { return q.Action == q.Retry }
	case "newer-generation":
		return func(q Question) bool { return q.Object.GetGeneration() > q.RetryObject.GetGeneration() }
	case "if-error-known":
		return func(q Question) bool { return q.Err != nil }
	}
	return nil
}

func newPlay(t require.TestingT, input map[string]any) *play {
	begin := time.Date(2030, 1, 1, 0, 0, 0, 0, time.UTC)
	p := &play{
		t: t, input: input, now: begin, begin: begin, objects: map[deploy.Ref]*unstructured.Unstructured{}, lives: map[deploy.Ref]int{},
		due: map[deploy.Ref]time.Time{}, events: map[deploy.Ref]int{}, handles: map[string]*Handle{}, counts: map[string]int{},
	}
	dequeue := dequeueOf(input["dequeue"])
	if policy := dequeue; policy != nil {
		dequeue = func(q Question) bool {
			p.asked = append(p.asked, q)
			return policy(q)
		}
	}
	p.watchers = New[unstructured.Unstructured](items, Retry(policyOf(input)), Dequeue(dequeue), When(filter.Always()),
		OnError(func(_ context.Context, f Failure) {
			p.failures = append(p.failures, f)
			p.calls[len(p.calls)-1].givenUp = f.GivenUp
		}))
	memory, err := dryrun.New(dryrun.AnyKind())
	require.NoError(t, err)
	manager, err := deploy.NewManager(playCluster{memory, p})
	require.NoError(t, err)
	p.reconciler, err = p.watchers.Reconciler(context.Background(), watch.Env{
		Manager: manager, Logger: slog.New(slog.DiscardHandler), Now: func() time.Time { return p.now },
	})
	require.NoError(t, err)
	for _, w := range listOf(input["watchers"]) {
		p.add(Add(w["name"].(string), p.watcher(w)), w["name"].(string))
	}
	for _, r := range listOf(input["reconcilers"]) {
		p.add(AddReconciler(r["name"].(string), p.reconcile(r)), r["name"].(string))
	}
	return p
}

func (p *play) add(option Option, name string) {
	handle, err := p.watchers.Add(option)
	require.NoError(p.t, err)
	p.handles[name] = handle
}

// watcher returns a scripted watcher.
func (p *play) watcher(script map[string]any) Watcher[unstructured.Unstructured] {
	name := script["name"].(string)
	fails, _ := script["fail"].(map[string]any)
	do := func(action string, old, object *unstructured.Unstructured) error {
		if p.quiet {
			return nil
		}
		c := p.called(name, action, object)
		if old != nil {
			c.old = old.GetGeneration()
		}
		key := name + action + c.object
		p.counts[key]++
		limit, limited := fails[action].(int64)
		c.failed = limited && (limit < 0 || p.counts[key] <= int(limit))
		if generations, ok := script["fail_generations"].([]any); ok {
			c.failed = slices.Contains(generations, any(c.generation))
		}
		p.now = p.now.Add(seconds(script["takes_s"]))
		c.end = p.now.Sub(p.begin)
		if c.failed {
			return fmt.Errorf("%s %s %d", name, action, p.counts[key])
		}
		return nil
	}
	return Simple(Funcs[unstructured.Unstructured]{
		Add:    func(_ context.Context, o *unstructured.Unstructured) error { return do("add", nil, o) },
		Update: func(_ context.Context, old, o *unstructured.Unstructured) error { return do("update", old, o) },
		Delete: func(_ context.Context, o *unstructured.Unstructured) error { return do("delete", nil, o) },
	})
}

// reconcile returns a scripted reconciler.
func (p *play) reconcile(script map[string]any) Reconciler[unstructured.Unstructured] {
	name, answers := script["name"].(string), listOf(script["script"])
	return func(_ context.Context, r Request[unstructured.Unstructured]) (result Result, err error) {
		if p.quiet {
			return result, nil
		}
		c := p.called(name, string(r.Action), r.Object)
		c.state = r.State
		if p.counts[name] < len(answers) {
			answer := answers[p.counts[name]]
			if text, fails := answer["error"].(string); fails {
				c.failed, err = true, errors.New(text)
			}
			if after, asks := answer["requeue_s"]; asks {
				result.RequeueAfter = max(seconds(after), time.Nanosecond)
			}
			result.State = answer["state"]
		}
		p.counts[name]++
		return result, err
	}
}

func (p *play) called(who, action string, object *unstructured.Unstructured) *call {
	at := p.now.Sub(p.begin)
	c := call{
		at: at, end: at, who: who, action: action, object: object.GetNamespace() + "/" + object.GetName(), generation: object.GetGeneration(),
		event: p.events[deploy.RefOf(object)] - 1,
	}
	for _, earlier := range slices.Backward(p.calls) {
		if earlier.who == c.who && earlier.object == c.object {
			if earlier.event == c.event && !(earlier.action == "delete" && c.action != "delete") {
				c.attempt = earlier.attempt + 1
			}
			break
		}
	}
	p.calls = append(p.calls, c)
	return &p.calls[len(p.calls)-1]
}

// object returns the object of a step, in its present life.
func (p *play) object(content any) *unstructured.Unstructured {
	given, _ := content.(map[string]any)
	object := &unstructured.Unstructured{Object: map[string]any{}}
	object.SetGroupVersionKind(items)
	object.SetName(given["name"].(string))
	object.SetNamespace(given["namespace"].(string))
	generation, _ := given["generation"].(int64)
	object.SetGeneration(generation)
	ref := deploy.RefOf(object)
	object.SetUID(types.UID(fmt.Sprintf("%s-%d", object.GetName(), p.lives[ref])))
	p.versions++
	object.SetResourceVersion(fmt.Sprintf("v%d", p.versions))
	if version, ok := given["rv"].(string); ok {
		object.SetResourceVersion(version)
	}
	if labels, ok := given["labels"].(map[string]any); ok {
		object.Object["metadata"].(map[string]any)["labels"] = labels
	}
	if given["deleting"] == true {
		object.Object["metadata"].(map[string]any)["deletionTimestamp"] = "2030-01-01T00:00:00Z"
	}
	var finalizers []string
	list, _ := given["finalizers"].([]any)
	for _, name := range list {
		finalizers = append(finalizers, name.(string))
	}
	object.SetFinalizers(finalizers)
	return object
}

// run plays all steps.
func (p *play) run() {
	for i, step := range listOf(p.input["steps"]) {
		at := p.begin.Add(seconds(step["at"]))
		p.until(at)
		if p.now.Before(at) {
			p.now = at
		}
		switch step["event"] {
		case "remove_watcher":
			p.handles[step["watcher"].(string)].Remove()
			continue
		case "remove_all":
			for _, handle := range p.handles {
				handle.Remove()
			}
			continue
		}
		p.happens(i, step)
	}
	p.until(p.begin.Add(seconds(p.input["until_s"])))
}

// happens lets an event happen. An object whose first event is no creation was handled before.
func (p *play) happens(i int, step map[string]any) {
	ref := deploy.RefOf(p.object(step["object"]))
	if step["event"] == "add" && p.events[ref] > 0 && p.objects[ref] == nil {
		p.lives[ref]++
	}
	object := p.object(step["object"])
	event := deploy.Event{Type: deploy.Added, New: object}
	if step["event"] != "add" {
		before := object
		if step["old"] != nil {
			before = p.object(step["old"])
		}
		if p.events[ref] == 0 {
			p.quiet = true
			p.sees(ref, deploy.Event{Type: deploy.Added, New: before}, before)
			p.quiet = false
		}
		event = deploy.Event{Type: deploy.Modified, Old: before, New: object}
	}
	p.events[ref] = i + 1
	if step["event"] == "delete" {
		p.sees(ref, deploy.Event{Type: deploy.Deleted, Old: object, New: object}, nil)
		return
	}
	p.sees(ref, event, object)
}

func (p *play) sees(ref deploy.Ref, event deploy.Event, object *unstructured.Unstructured) {
	p.objects[ref] = object
	p.reconciler.(watch.Observer).Observe(event)
	p.pass(ref)
}

func (p *play) pass(ref deploy.Ref) {
	result, err := p.reconciler.Reconcile(context.Background(), request.Request{Key: ref})
	require.NoError(p.t, err)
	delete(p.due, ref)
	if result.RequeueAfter > 0 {
		p.due[ref] = p.now.Add(result.RequeueAfter)
	}
}

// until makes the passes that are due before a time.
func (p *play) until(end time.Time) {
	for range 1000 {
		var next deploy.Ref
		for ref, at := range p.due {
			if first := p.due[next]; next.Name == "" || at.Before(first) || at.Equal(first) && ref.String() < next.String() {
				next = ref
			}
		}
		if next.Name == "" || p.due[next].After(end) {
			return
		}
		if p.now.Before(p.due[next]) {
			p.now = p.due[next]
		}
		p.pass(next)
	}
	p.t.Errorf("it never ends")
}
