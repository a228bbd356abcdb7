package explore

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/operkit/operkit/reconcile/request"
	"github.com/operkit/operkit/reconcile/watch"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// pulse reconciles each minute.
type pulse struct{ *manual }

// Reconciler implements watch.Controller.
func (p pulse) Reconciler(ctx context.Context, env watch.Env) (watch.Reconciler, error) {
	_, err := p.manual.Reconciler(ctx, env)
	return p, err
}

// Reconcile implements watch.Reconciler.
func (p pulse) Reconcile(ctx context.Context, req request.Request) (request.Result, error) {
	result, err := p.manual.Reconcile(ctx, req)
	result.RequeueAfter = time.Minute
	return result, err
}

// seen writes the present time into the status, at most once a minute.
func seen(ctx context.Context, m *manual, resource *unstructured.Unstructured) error {
	last, err := time.Parse(time.RFC3339, statusOf(resource, "lastSeen"))
	if err == nil && m.env.Now().Sub(last) < time.Minute {
		return nil
	}
	return m.patch(ctx, resource, "status", fmt.Sprintf(`{"status":{"lastSeen":%q}}`, m.env.Now().Format(time.RFC3339)))
}

func TestHeartbeat(t *testing.T) {
	beating := func(reconcile reconciling) func() pulse { return func() pulse { return pulse{manually(reconcile)()} } }
	t.Run("explore 38: a heartbeat keeps it from rest, and the story says what to do", func(t *testing.T) {
		r := explored(t, beating(then(careful, seen)), startDriven, Findings(1))
		require.Len(t, r.findings, 1, stories(r))
		assert.Contains(t, r.findings[0].story(), "the operator doesn't come to rest")
		assert.Contains(t, r.findings[0].story(), `if it writes them on purpose: explore.Ignore("Shop * status.lastSeen")`)
	})
	t.Run("explore 38: ignored, nothing is found", func(t *testing.T) {
		r := explored(t, beating(then(careful, seen)), startDriven, States(300), Ignore("Shop * status.lastSeen"))
		assert.Empty(t, r.findings, stories(r))
		assert.Positive(t, r.disturbed)
	})
	t.Run("explore 38: it doesn't hide other faults", func(t *testing.T) {
		r := explored(t, beating(then(forgetful, seen)), startDriven, Findings(1), Ignore("Shop * status.lastSeen"))
		require.Len(t, r.findings, 1, stories(r))
		assert.Contains(t, r.findings[0].story(), "the operator is killed after it has sent: create ConfigMap test/till-")
	})
	t.Run("explore 38: other values than times aren't ignored by advice", func(t *testing.T) {
		r := explored(t, manually(then(careful, wavering)), startDriven, Findings(1))
		require.Len(t, r.findings, 1, stories(r))
		assert.NotContains(t, r.findings[0].story(), "explore.Ignore")
	})
}
