package reconcile

import (
	"testing"
	"time"

	"github.com/operkit/operkit/deploy"
	"github.com/operkit/operkit/status/readiness"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

func TestReadyBy(t *testing.T) {
	t.Parallel()
	lit := func(now time.Time, object map[string]any) readiness.Result {
		data, _ := object["data"].(map[string]any)
		switch {
		case now.IsZero():
			return readiness.Result{State: readiness.Unknown, Message: "it is no time"}
		case data["light"] == "on":
			return readiness.Result{State: readiness.Ready}
		case data["light"] == "broken":
			return readiness.Result{State: readiness.Failed, Message: "the bulb is broken"}
		}
		return readiness.Result{State: readiness.InProgress, Message: "it is dark"}
	}
	checker := readiness.Checker{Registry: readiness.Registry{{Kind: "ConfigMap"}: {Func: lit}}}
	w := newWorld(t)
	r := w.reconciler(adding(func(s *Session) { s.Add("lamp", configMap("lamp")) }), ReadyBy(checker))
	for _, row := range []struct{ reason, light, want string }{
		{"what isn't ready is waited for", "off", "lamp: ConfigMap lamp: InProgress (it is dark)"},
		{"what is ready is", "on", "Rollout Complete"},
		{"what has failed fails its component", "broken", "lamp: ConfigMap lamp: Failed (the bulb is broken)"},
	} {
		_, _, _ = w.once(r)
		w.merge(configMapRef("lamp"), `{"data":{"light":"`+row.light+`"}}`)
		_, _, _ = w.once(r)
		assert.Contains(t, w.message(), row.want, row.reason)
	}

	t.Run("a registry that can't be is a mistake at the start", func(t *testing.T) {
		t.Parallel()
		_, err := New(adding(func(*Session) {}), must(deploy.NewManager(newWorld(t))), ReadyBy(readiness.Checker{Registry: readiness.Registry{
			schema.GroupKind{Kind: "Lamp"}: {Condition: &readiness.Condition{}},
		}}))
		require.ErrorContains(t, err, "readiness: ")
	})
}
