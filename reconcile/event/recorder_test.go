package event

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/operkit/operkit/deploy"
	"github.com/operkit/operkit/reconcile/internal/testlog"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
)

var shop = Object{Ref: deploy.Ref{Kind: schema.GroupVersionKind{Group: "example.dev", Version: "v1", Kind: "Shop"}, Namespace: "town", Name: "tea"}, UID: "u1", ResourceVersion: "7"}

// port takes what is written, and answers what it is told to.
type port struct {
	deploy.Port
	mu      sync.Mutex
	created []*unstructured.Unstructured
	counts  map[string][]int64
	refuse  error
	// refuseIn is what one namespace refuses.
	refuseIn map[string]error
	delay    time.Duration
}

func (p *port) Create(ctx context.Context, obj *unstructured.Unstructured, _ deploy.CreateOptions) (*unstructured.Unstructured, error) {
	if p.delay > 0 {
		select {
		case <-time.After(p.delay):
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if err := cmp.Or(p.refuse, p.refuseIn[obj.GetNamespace()]); err != nil {
		return nil, err
	}
	p.created = append(p.created, obj)
	return obj, nil
}

func (p *port) Patch(_ context.Context, ref deploy.Ref, patch deploy.PatchRequest) (*unstructured.Unstructured, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.refuse != nil {
		return nil, p.refuse
	}
	var body struct {
		Series struct {
			Count            int64
			LastObservedTime time.Time
		}
	}
	if err := json.Unmarshal(patch.Body, &body); err != nil {
		return nil, err
	}
	if p.counts == nil {
		p.counts = map[string][]int64{}
	}
	p.counts[ref.Name] = append(p.counts[ref.Name], body.Series.Count)
	return &unstructured.Unstructured{}, nil
}

func (p *port) notes() (notes []string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, obj := range p.created {
		notes = append(notes, obj.Object["note"].(string))
	}
	return notes
}

// written are the counts that were written of each event.
func (p *port) written() map[string][]int64 {
	p.mu.Lock()
	defer p.mu.Unlock()
	counts := map[string][]int64{}
	for name, all := range p.counts {
		counts[name] = slices.Clone(all)
	}
	return counts
}

// name is that of the first event.
func (p *port) name() string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.created[0].GetName()
}

func (p *port) refuses(err error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.refuse = err
}

// inBubble runs a test with a recorder in a time of its own.
func inBubble(t *testing.T, reason string, do func(t *testing.T, r *Recorder, p *port, logs *testlog.Text)) {
	t.Helper()
	t.Run(reason, func(t *testing.T) {
		t.Parallel()
		synctest.Test(t, func(t *testing.T) {
			p, logs := &port{}, &testlog.Text{}
			r := NewRecorder(p, "shop-operator", "shop-operator-0", slog.New(slog.NewTextHandler(logs, nil)))
			ctx, stop := context.WithCancel(t.Context())
			done := make(chan struct{})
			go func() { defer close(done); r.Run(ctx) }()
			do(t, r, p, logs)
			stop()
			<-done
		})
	})
}

func TestRecorder(t *testing.T) {
	t.Parallel()
	inBubble(t, "what is written", func(t *testing.T, r *Recorder, p *port, _ *testlog.Text) {
		web := Object{Ref: deploy.Ref{Kind: schema.GroupVersionKind{Group: "apps", Version: "v1", Kind: "Deployment"}, Namespace: "town", Name: "web"}}
		r.Record(Event{Regarding: shop, Related: web, Type: Warning, Reason: "Closed", Action: "Close", Note: "no tea"})
		r.Record(Event{Regarding: Object{Ref: deploy.Ref{Kind: schema.GroupVersionKind{Version: "v1", Kind: "Node"}, Name: "n"}}, Reason: "Seen"})
		synctest.Wait()
		require.Len(t, p.created, 2)
		first := p.created[0].Object
		metadata := first["metadata"].(map[string]any)
		assert.True(t, strings.HasPrefix(metadata["name"].(string), "tea."))
		delete(first, "metadata")
		assert.Equal(t, map[string]any{
			"apiVersion": "events.k8s.io/v1", "kind": "Event", "eventTime": "2000-01-01T00:00:00.000000Z",
			"reportingController": "shop-operator", "reportingInstance": "shop-operator-0",
			"type": "Warning", "reason": "Closed", "action": "Close", "note": "no tea",
			"regarding": map[string]any{"apiVersion": "example.dev/v1", "kind": "Shop", "namespace": "town", "name": "tea", "uid": "u1", "resourceVersion": "7"},
			"related":   map[string]any{"apiVersion": "apps/v1", "kind": "Deployment", "namespace": "town", "name": "web"},
		}, first)
		second := p.created[1]
		assert.Equal(t, "default", second.GetNamespace(), "an object in no namespace")
		assert.Equal(t, []any{"Normal", "Seen", "Seen"}, []any{second.Object["type"], second.Object["reason"], second.Object["action"]})
		assert.NotContains(t, second.Object, "related")
	})
	inBubble(t, "the same again is counted, and the count written now and then", func(t *testing.T, r *Recorder, p *port, _ *testlog.Text) {
		again := func(version string) {
			e := Event{Regarding: shop, Type: Warning, Reason: "Failed", Note: "no tea"}
			e.Regarding.ResourceVersion = version
			r.Record(e)
			synctest.Wait()
		}
		again("7")
		again("8")
		name := p.name()
		assert.Equal(t, map[string][]int64{name: {2}}, p.written(), "that it comes again is told at once")
		for range 10 {
			again("9")
			time.Sleep(30 * time.Second)
		}
		assert.Equal(t, map[string][]int64{name: {2}}, p.written())
		time.Sleep(2 * time.Minute)
		synctest.Wait()
		assert.Equal(t, map[string][]int64{name: {2, 12}}, p.written(), "all of them")
		assert.Len(t, p.notes(), 1)
		time.Sleep(window)
		again("10")
		assert.Len(t, p.notes(), 2, "after a while it is another one")
		r.Record(Event{Regarding: shop, Type: Warning, Reason: "Failed", Note: "no milk"})
		synctest.Wait()
		assert.Len(t, p.notes(), 3, "and so is one that says something else")
	})
	inBubble(t, "a count that isn't written yet is at the end", func(t *testing.T, r *Recorder, p *port, _ *testlog.Text) {
		for range 5 {
			r.Record(Event{Regarding: shop, Reason: "Opened"})
			synctest.Wait()
		}
		assert.Equal(t, []int64{2}, p.written()[p.name()])
		t.Cleanup(func() { assert.Equal(t, []int64{2, 5}, p.written()[p.name()]) })
	})
	inBubble(t, "no flood about one object", func(t *testing.T, r *Recorder, p *port, _ *testlog.Text) {
		other := shop
		other.UID = "u2"
		for i := range 100 {
			r.Record(Event{Regarding: shop, Reason: "Opened", Note: fmt.Sprint(i)})
			synctest.Wait()
		}
		r.Record(Event{Regarding: other, Reason: "Opened", Note: "another one's"})
		synctest.Wait()
		assert.Len(t, p.notes(), mostAtOnce+1)
		assert.Equal(t, uint64(75), r.Dropped())
		time.Sleep(window)
		for i := range 5 {
			r.Record(Event{Regarding: shop, Reason: "Opened", Note: fmt.Sprint("later ", i)})
		}
		synctest.Wait()
		assert.Len(t, p.notes(), mostAtOnce+2, "one each while")
		time.Sleep(2 * mostAtOnce * window)
		synctest.Wait()
		assert.Empty(t, r.allowances, "nothing is kept")
		assert.Empty(t, r.known)
	})
	inBubble(t, "it never waits", func(t *testing.T, r *Recorder, p *port, logs *testlog.Text) {
		p.delay = time.Hour
		for i := range 3 * mostWaiting {
			other := shop
			other.UID = types.UID(fmt.Sprint("uid", i))
			r.Record(Event{Regarding: other, Reason: "Opened"})
		}
		synctest.Wait()
		assert.GreaterOrEqual(t, r.Dropped(), uint64(2*mostWaiting-1))
		synctest.Wait()
		assert.Empty(t, logs.String())
	})
	inBubble(t, "while the cluster doesn't answer events wait", func(t *testing.T, r *Recorder, p *port, logs *testlog.Text) {
		p.refuses(&deploy.UnavailableError{Ref: deploy.Ref{Name: "tea.1234"}, Err: errors.New("connection refused")})
		for i := range 5 {
			r.Record(Event{Regarding: shop, Reason: "Opened", Note: fmt.Sprint(i)})
		}
		time.Sleep(5 * time.Minute)
		synctest.Wait()
		assert.Empty(t, p.notes())
		assert.InDelta(t, 5, strings.Count(logs.String(), "can't be written"), 1, "it is said once a minute: %s", logs)
		p.refuses(nil)
		time.Sleep(time.Minute)
		synctest.Wait()
		assert.Equal(t, []string{"0", "1", "2", "3", "4"}, p.notes(), "none is lost")
		assert.Zero(t, r.Dropped())
	})
	inBubble(t, "what the cluster refuses is said once, with what to do", func(t *testing.T, r *Recorder, p *port, logs *testlog.Text) {
		right := errors.New(`events.events.k8s.io is forbidden: User "x" cannot create resource "events" in API group "events.k8s.io"`)
		p.refuse = &deploy.ForbiddenError{Verb: "create", Resource: schema.GroupResource{Group: "events.k8s.io", Resource: "events"}, Err: right}
		for i := range 5 {
			r.Record(Event{Regarding: shop, Reason: "Opened", Note: fmt.Sprint(i)})
		}
		synctest.Wait()
		assert.Equal(t, 1, strings.Count(logs.String(), "grant create and patch of events in the group events.k8s.io"), logs)
		assert.Equal(t, uint64(5), r.Dropped())
		p.refuses(nil)
		r.Record(Event{Regarding: shop, Reason: "Opened", Note: "now"})
		synctest.Wait()
		assert.Equal(t, []string{"now"}, p.notes())
		time.Sleep(quiet)
		p.refuses(&deploy.InvalidError{Ref: deploy.Ref{Name: "e"}, Err: errors.New("no such field")})
		r.Record(Event{Regarding: shop, Reason: "Opened", Note: "lost"})
		r.Record(Event{Regarding: shop, Reason: "Opened", Note: "now"})
		synctest.Wait()
		assert.Equal(t, 2, strings.Count(logs.String(), "can't be written"))
		time.Sleep(quiet)
		for _, silent := range []error{
			&deploy.NotFoundError{},
			&deploy.ForbiddenError{Err: &apierrors.StatusError{ErrStatus: metav1.Status{
				Reason: metav1.StatusReasonForbidden, Details: &metav1.StatusDetails{Causes: []metav1.StatusCause{{Type: "NamespaceTerminating"}}},
			}}},
		} {
			p.refuses(silent)
			r.Record(Event{Regarding: shop, Reason: "Opened", Note: silent.Error()})
			synctest.Wait()
		}
		assert.Equal(t, 2, strings.Count(logs.String(), "can't be written"), "that a namespace goes is no failure: %s", logs)
		p.refuses(nil)
		r.Record(Event{Regarding: shop, Reason: "Opened", Note: "now"})
		synctest.Wait()
		assert.Equal(t, []string{"now", "now"}, p.notes(), "one whose count couldn't be written is begun anew")
	})
	inBubble(t, "what wasn't told of a count is told before the next one", func(t *testing.T, r *Recorder, p *port, _ *testlog.Text) {
		for range 4 {
			r.Record(Event{Regarding: shop, Reason: "Opened"})
			synctest.Wait()
		}
		time.Sleep(window - time.Second)
		r.Record(Event{Regarding: shop, Reason: "Opened"})
		synctest.Wait()
		assert.Equal(t, []int64{2}, p.written()[p.name()])
		time.Sleep(2 * window)
		synctest.Wait()
		assert.Equal(t, []int64{2, 5}, p.written()[p.name()])
	})
	inBubble(t, "a name that is cut is one all the same", func(t *testing.T, r *Recorder, p *port, _ *testlog.Text) {
		long := shop
		long.Name = strings.Repeat("a", longestName-1) + ".b"
		r.Record(Event{Regarding: long, Reason: "Opened"})
		synctest.Wait()
		assert.Contains(t, p.name(), strings.Repeat("a", longestName-1)+".d")
		assert.NotContains(t, p.name(), "..")
	})
	inBubble(t, "a warning outlives its namespace", func(t *testing.T, r *Recorder, p *port, logs *testlog.Text) {
		p.refuseIn = map[string]error{"town": &deploy.ForbiddenError{Err: &apierrors.StatusError{ErrStatus: metav1.Status{
			Reason: metav1.StatusReasonForbidden, Details: &metav1.StatusDetails{Causes: []metav1.StatusCause{{Type: "NamespaceTerminating"}}},
		}}}}
		r.Record(Event{Regarding: shop, Reason: "Closed", Note: "as usual"})
		for range 2 {
			r.Record(Event{Regarding: shop, Type: Warning, Reason: "Closed", Note: "tea is left"})
		}
		synctest.Wait()
		require.Equal(t, []string{"Shop town/tea: tea is left"}, p.notes(), "of the two one is counted")
		e := p.created[0].Object
		assert.Equal(t, "default", p.created[0].GetNamespace(), "as Kubernetes has it for what is in no namespace")
		assert.Equal(t, map[string]any{"apiVersion": "v1", "kind": "Namespace", "name": "town"}, e["regarding"])
		assert.Equal(t, reference(shop), e["related"])
		p.refuseIn["default"] = &deploy.ForbiddenError{Err: errors.New("cannot create resource")}
		dropped := r.Dropped()
		r.Record(Event{Regarding: shop, Type: Warning, Reason: "Closed", Note: "coffee too"})
		synctest.Wait()
		assert.Equal(t, dropped+1, r.Dropped())
		assert.Empty(t, logs.String(), "an operator of one namespace needs no rights in others")
	})
	inBubble(t, "events of events, and of nothing, are none", func(t *testing.T, r *Recorder, p *port, _ *testlog.Text) {
		r.Record(Event{Regarding: Object{Ref: deploy.Ref{Kind: schema.GroupVersionKind{Version: "v1", Kind: "Event"}, Name: "e"}}, Reason: "Opened"})
		r.Record(Event{Reason: "Opened"})
		r.Record(Event{Regarding: shop})
		synctest.Wait()
		assert.Empty(t, p.created)
	})
}

func TestLastWords(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		p := &port{delay: time.Second}
		r := NewRecorder(p, "shop-operator", "0", slog.New(slog.DiscardHandler))
		ctx, stop := context.WithCancel(t.Context())
		done := make(chan struct{})
		go func() { defer close(done); r.Run(ctx) }()
		for i := range 3 {
			r.Record(Event{Regarding: shop, Reason: "Closed", Note: fmt.Sprint(i)})
		}
		synctest.Wait()
		stop()
		<-done
		assert.Equal(t, []string{"0", "1", "2"}, p.notes(), "what waits at the end is written")
	})
	synctest.Test(t, func(t *testing.T) {
		p := &port{delay: 2 * time.Second}
		r := NewRecorder(p, "shop-operator", "0", slog.New(slog.DiscardHandler))
		ctx, stop := context.WithCancel(t.Context())
		for i := range 20 {
			r.Record(Event{Regarding: shop, Reason: "Closed", Note: fmt.Sprint(i)})
		}
		stop()
		began := time.Now()
		r.Run(ctx)
		assert.LessOrEqual(t, time.Since(began), lastWords, "an end isn't held up")
		assert.Less(t, len(p.notes()), 10)
	})
}
