package reconcile

import (
	"cmp"
	"context"
	"slices"
	"sync"
	"testing"

	"github.com/operkit/operkit/deploy"
	"github.com/stretchr/testify/assert"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// ownRecorder is a Watcher that keeps what it is told.
type ownRecorder struct {
	fail error
	// failFor are the errors for single kinds.
	failFor map[schema.GroupVersionKind]error

	mu   sync.Mutex
	told []string
}

func (o *ownRecorder) Own(_ context.Context, owner, child schema.GroupVersionKind) error {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.told = append(o.told, owner.Kind+" owns "+child.Kind)
	return cmp.Or(o.failFor[child], o.fail)
}

func (*ownRecorder) FollowAll(context.Context, deploy.Ref, schema.GroupVersionKind, string, labels.Selector) error {
	return nil
}

func (o *ownRecorder) Follow(_ context.Context, owner deploy.Ref, ref deploy.Ref) error {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.told = append(o.told, owner.Kind.Kind+" follows "+ref.Kind.Kind)
	return cmp.Or(o.failFor[ref.Kind], o.fail)
}

func (o *ownRecorder) made() []string {
	o.mu.Lock()
	defer o.mu.Unlock()
	return slices.Clone(o.told)
}

func TestKindsAreWatchedBeforeTheFirstWrite(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	watcher := &ownRecorder{}
	w.refuse = func(call string) error {
		if call == "apply ConfigMap shop/a" {
			assert.Equal(t, []string{"Widget owns ConfigMap", "Widget owns Deployment"}, watcher.made())
		}
		return nil
	}
	w.calm(w.reconciler(adding(func(s *Session) {
		s.Add("c", configMap("a"), configMap("b"), deployment("d"))
	}), WithWatcher(watcher)))
	assert.Equal(t, []string{"Widget owns ConfigMap", "Widget owns Deployment"}, watcher.made(), "watch mistake 23: each kind once a component")
}

func TestUnwatchableKind(t *testing.T) {
	t.Parallel()
	unwatchable := forbidden("list and watch", "configmaps")
	for _, row := range []struct {
		reason   string
		fail     error
		disabled bool
		err      string
	}{
		{"nothing of the kind is applied", unwatchable, false, "component c: " + unwatchable.Error()},
		{"nor deleted", unwatchable, true, "component c: " + unwatchable.Error()},
		{"of a kind that isn't served there is nothing to delete", &deploy.KindUnknownError{Kind: configMaps}, true, ""},
	} {
		t.Run(row.reason, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			if row.err == "" {
				w.serves(configMaps)
			}
			calls, _, err := w.once(w.reconciler(adding(func(s *Session) {
				if c := s.Add("c", configMap("a")); row.disabled {
					c.Disable()
				}
			}), WithWatcher(&ownRecorder{fail: row.fail})))
			assert.Equal(t, []string{writeStatus}, calls)
			if row.err == "" {
				assert.NoError(t, err)
				assert.Equal(t, "Stable/Stable", w.verdict())
				return
			}
			assert.EqualError(t, err, row.err)
			assert.Equal(t, "Initializing/ClusterError", w.verdict())
		})
	}
}

// Whoever deploys in a way of its own has its kinds watched, and remembered, all the same.
func TestKindsOfAnOwnDeploy(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	watcher := &ownRecorder{}
	w.calm(w.reconciler(adding(func(s *Session) { s.Use("c", appliesItself{}) }), WithWatcher(watcher)))
	assert.Equal(t, []string{"Widget owns ConfigMap"}, watcher.made())

	w = newWorld(t)
	w.refuse = func(call string) error {
		if call == "apply ConfigMap bank/account" {
			assert.Equal(t, []any{"v1/ConfigMap"}, w.kinds(), "before the first write")
		}
		return nil
	}
	w.calm(w.reconciler(adding(func(s *Session) { s.Use("c", appliesElsewhere{}) }), OwnAnywhere()))
}

// appliesElsewhere is appliesItself in another namespace.
type appliesElsewhere struct{ appliesItself }

func (appliesElsewhere) Build(_ context.Context, _ *Session, c *Component) error {
	c.Add("own", elsewhere("account"))
	return nil
}
