package watch

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"sync"
	"testing"
	"time"

	"github.com/operkit/operkit/deploy"
	"github.com/operkit/operkit/reconcile/request"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
)

// hands is a View of nothing, whose events a test makes.
type hands struct {
	deploy.View
	handles chan func(deploy.Event)
}

func (h *hands) Subscribe(_ context.Context, kind schema.GroupVersionKind, handle func(deploy.Event)) (deploy.Subscription, error) {
	if kind == widgets {
		h.handles <- handle
	}
	return h, nil
}

func (h *hands) Synced(context.Context) error { return nil }

// Objects come, change, leave the view and come back while they are reconciled, in all the ways that real time makes
// possible. In the end all have left, and nothing is kept of any.
func TestComingAndGoing(t *testing.T) {
	t.Parallel()
	const objects, rounds = 30, 300
	view := &hands{handles: make(chan func(deploy.Event), 1)}
	engine, err := New(view, Workers(8), Backoff(time.Microsecond, time.Millisecond), Logger(slog.New(slog.DiscardHandler)))
	require.NoError(t, err)
	reconciler := &reconciler{do: func(ctx context.Context, req request.Request) (request.Result, error) {
		for i := range rand.IntN(3) {
			if err := engine.Follow(ctx, req.Key, deploy.Ref{Kind: configMaps, Namespace: "shop", Name: fmt.Sprint(i)}); err != nil {
				return request.Result{}, err
			}
		}
		time.Sleep(time.Duration(rand.IntN(200)) * time.Microsecond)
		switch rand.IntN(4) {
		case 0:
			return request.Result{}, errors.New("weird")
		case 1:
			return request.Result{}, request.Permanent(errors.New("weird"))
		case 2:
			return request.Result{RequeueAfter: time.Duration(rand.IntN(1000)) * time.Microsecond}, nil
		}
		return request.Result{}, nil
	}}
	require.NoError(t, engine.Control(widgets, reconciler))
	ctx, stop := context.WithCancel(t.Context())
	ended := make(chan error)
	go func() { ended <- engine.Run(ctx) }()
	handle := <-view.handles
	var lives sync.WaitGroup
	for i := range objects {
		lives.Go(func() { live(fmt.Sprint("w", i), rounds, handle) })
	}
	lives.Wait()
	assert.Eventually(t, func() bool {
		state := engine.State()
		idle := state.Unread == 0 && state.Waiting == 0 && state.Timers == 0 && len(state.Running) == 0
		// A worker forgets what its last object followed when it asks for another one, if the engine hasn't ended by
		// then. A state that is read while a worker takes an object shows it neither as waiting nor as running.
		time.Sleep(10 * time.Millisecond)
		return idle && engine.State().Reconciles == state.Reconciles && engine.followers.Len() == 0
	}, 30*time.Second, time.Millisecond)
	stop()
	require.NoError(t, <-ended)
	assert.Greater(t, len(reconciler.requests), objects)
	assert.Equal(t, []int{0, 0, 0}, []int{engine.owners.Len(), engine.followers.Len(), engine.State().Failing},
		"owners, followers and failures that are known")
}

// live is the life of an object: one event after the other, the last that it leaves the view.
func live(name string, rounds int, handle func(deploy.Event)) {
	var present *unstructured.Unstructured
	for version := range rounds {
		next := widget(name)
		next.SetUID(types.UID(name))
		next.SetResourceVersion(fmt.Sprint(version + 1))
		next.SetGeneration(int64(version + 1))
		switch {
		case present == nil:
			present = next
			handle(deploy.Event{Type: deploy.Added, New: next})
		case rand.IntN(3) == 0:
			handle(deploy.Event{Type: deploy.Left, Old: present, New: present})
			present = nil
		default:
			handle(deploy.Event{Type: deploy.Modified, Old: present, New: next})
			present = next
		}
		if rand.IntN(4) == 0 {
			time.Sleep(time.Duration(rand.IntN(300)) * time.Microsecond)
		}
	}
	if present != nil {
		handle(deploy.Event{Type: deploy.Left, Old: present, New: present})
	}
}
