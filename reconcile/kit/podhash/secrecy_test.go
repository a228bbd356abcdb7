package podhash_test

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"log/slog"
	"testing"

	"github.com/operkit/operkit/deploy"
	"github.com/operkit/operkit/deploy/dryrun"
	"github.com/operkit/operkit/reconcile"
	"github.com/operkit/operkit/reconcile/event"
	"github.com/operkit/operkit/reconcile/internal/testlog"
	"github.com/operkit/operkit/reconcile/kit/podhash"
	"github.com/operkit/operkit/reconcile/reconciletest"
	"github.com/operkit/operkit/reconcile/request"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

func TestNothingSecretIsSaid(t *testing.T) {
	t.Parallel()
	t.Run("podhash 14: values are in no log, event, error or status", func(t *testing.T) {
		t.Parallel()
		said := &testlog.Text{} // all that the operator says
		logger := slog.New(slog.NewJSONHandler(said, &slog.HandlerOptions{Level: slog.LevelDebug - 10}))
		events := event.Func(func(e event.Event) {
			text, _ := json.Marshal(e)
			_, _ = said.Write(text)
		})
		h := harness(t, func(s *reconcile.Session) { s.Add("web", workload("own", "foreign", "absent"), password(s)) },
			reconciletest.With(reconcile.Logger(logger)), reconciletest.Events(events))
		h.Apply(shop)
		foreign(h, "foreign-token")
		h.RunUntilSettled()
		change(t, h, "second-password")
		h.RunUntilSettled()
		h.Apply(fields{"apiVersion": "v1", "kind": "Secret", "metadata": fields{"name": "absent"}, "data": fields{"broken": "!not-base64!"}})
		h.RunUntilSettled()
		text := said.String()
		require.Contains(t, text, "Pods require an object that doesn't exist", "podhash 8")
		assert.Contains(t, text, `"requires":"Secret/absent"`, "podhash 8")
		status, err := json.Marshal(h.Get("Shop tea").Object["status"])
		require.NoError(t, err)
		text += string(status)
		deployed, err := json.Marshal(h.Get("Deployment web").Object)
		require.NoError(t, err)
		text += string(deployed)
		for _, secret := range []string{"first-password", "second-password", "foreign-token", "!not-base64!"} {
			assert.NotContains(t, text, secret)
			assert.NotContains(t, text, base64.StdEncoding.EncodeToString([]byte(secret)))
		}
	})
}

// blind is a cluster that doesn't let Secrets be read.
type blind struct{ *dryrun.Cluster }

func (b blind) View() deploy.View { return blindView{b.Cluster.View()} }

type blindView struct{ deploy.View }

func (v blindView) Get(ctx context.Context, ref deploy.Ref) (*unstructured.Unstructured, error) {
	if ref.Kind.Kind == podhash.Secret {
		return nil, errors.New("secrets can't be read")
	}
	return v.View.Get(ctx, ref)
}

func TestUnreadable(t *testing.T) {
	t.Parallel()
	t.Run("podhash 9: a Secret that can't be read fails its component, with its name, and no other", func(t *testing.T) {
		t.Parallel()
		tea := reconciletest.Resource(shops, "tea", nil)
		tea.SetNamespace("test")
		memory, err := dryrun.New(dryrun.AnyKind(), dryrun.Objects(tea))
		require.NoError(t, err)
		manager, err := deploy.NewManager(blind{memory})
		require.NoError(t, err)
		controller := reconciletest.Controlling(shops, func(_ context.Context, s *reconcile.Session) error {
			s.Add("web", workload("foreign"))
			s.Add("other", fields{"apiVersion": "v1", "kind": "ConfigMap", "metadata": fields{"name": "other"}})
			return nil
		})
		r, err := reconcile.New(controller, manager, podhash.Components(), reconcile.Logger(slog.New(slog.DiscardHandler)))
		require.NoError(t, err)
		_, err = r.Reconcile(t.Context(), request.Request{Key: deploy.RefOf(tea)})
		require.EqualError(t, err, "component web: object deployment/web: Secret test/foreign: secrets can't be read")
		kinds := []string{}
		for _, obj := range memory.Objects() {
			kinds = append(kinds, obj.GetKind())
		}
		assert.ElementsMatch(t, []string{"Shop", "ConfigMap"}, kinds)
	})
}
