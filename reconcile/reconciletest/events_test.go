package reconciletest

import (
	"context"
	"testing"

	"github.com/operkit/operkit/deploy"
	"github.com/operkit/operkit/reconcile"
	"github.com/stretchr/testify/assert"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// settledAt runs until it is settled, and returns the times since then of the reconciles that this took.
func settledAt(h *Harness) (times []string) {
	h.t.Helper()
	began, before := h.Now(), len(h.Runs())
	h.RunUntilSettled()
	for _, run := range h.Runs()[before:] {
		times = append(times, run.At.Sub(began).String())
	}
	return times
}

func TestOwnedElsewhere(t *testing.T) {
	t.Parallel()
	t.Run("deploy 27: what happens to an object in another namespace brings its owner", func(t *testing.T) {
		t.Parallel()
		account := settings("account", map[string]any{"money": "none"})
		account["metadata"].(map[string]any)["namespace"] = "bank"
		h := New(t, &shop{func(_ context.Context, s *reconcile.Session) error {
			s.Add("account", account)
			return nil
		}}, With(reconcile.OwnAnywhere()))
		h.Apply(tea)
		h.RunUntilSettled()
		h.Delete("ConfigMap bank/account")
		assert.Equal(t, []string{"0s", "10m0s"}, settledAt(h), "because it went, and when the period is over; its own write is no news")
		h.Created("ConfigMap bank/account")
		h.Edit("ConfigMap bank/account", func(obj *unstructured.Unstructured) { obj.Object["data"] = map[string]any{"money": "much"} })
		assert.Equal(t, []string{"0s", "10m0s"}, settledAt(h))
		h.Configured("ConfigMap bank/account")
		h.Delete("Shop tea")
		h.RunUntilSettled()
		h.Gone("Shop tea", "ConfigMap bank/account")
	})
}

func TestFollowed(t *testing.T) {
	t.Parallel()
	following := true
	h := New(t, &shop{func(ctx context.Context, s *reconcile.Session) error {
		keys := deploy.Ref{Kind: schema.GroupVersionKind{Version: "v1", Kind: "Secret"}, Namespace: s.Namespace(), Name: "keys"}
		found := "none"
		if following {
			if err := s.Follow(ctx, keys); err != nil {
				return err
			}
			if obj, err := s.Get(ctx, keys); err != nil {
				return err
			} else if obj != nil {
				found = obj.GetLabels()["colour"]
			}
		}
		s.Add("door", settings("door", map[string]any{"keys": found}))
		return nil
	}})
	keys := func(colour string) string {
		return `{apiVersion: v1, kind: Secret, metadata: {name: keys, labels: {colour: ` + colour + `}}}`
	}
	door := func() any { return h.Get("ConfigMap door").Object["data"].(map[string]any)["keys"] }
	h.Apply(tea)
	h.RunUntilSettled()
	assert.Equal(t, "none", door())
	for _, row := range []struct {
		reason, want string
		happens      func()
	}{
		{"it comes", "red", func() { h.Apply(keys("red")) }},
		{"it changes", "blue", func() { h.Apply(keys("blue")) }},
		{"it goes", "none", func() { h.Delete("Secret keys") }},
	} {
		row.happens()
		assert.Equal(t, []string{"0s", "10m0s"}, settledAt(h), "%s: because of it, and when the period is over", row.reason)
		assert.Equal(t, row.want, door(), row.reason)
	}
	following = false
	h.Edit("Shop tea", func(obj *unstructured.Unstructured) { obj.SetLabels(map[string]string{"a": "b"}) })
	h.RunUntilSettled()
	h.Apply(keys("blue"))
	assert.Equal(t, []string{"10m0s"}, settledAt(h), "nobody follows it any more")
}

func TestFollowedThatExists(t *testing.T) {
	t.Parallel()
	h := New(t, &shop{func(ctx context.Context, s *reconcile.Session) error {
		return s.Follow(ctx, reconcileRef("ConfigMap", s.Namespace(), "town"))
	}})
	h.Apply(tea, settings("town", nil))
	h.RunUntilSettled()
	h.Restart()
	assert.Equal(t, []string{"0s", "10m0s"}, settledAt(h), "what exists is about to be read, and no news")
}
