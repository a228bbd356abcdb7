package watch

import (
	"log/slog"
	"testing"
	"time"

	"github.com/operkit/operkit/deploy/dryrun"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

func TestNewRefuses(t *testing.T) {
	t.Parallel()
	for _, row := range []struct {
		reason string
		option Option
		want   string
	}{
		{"watch mistake 24: no workers", Workers(0), "workers: 0: at least 1 is needed"},
		{"watch mistake 24: less than none", Workers(-1), "workers: -1: at least 1 is needed"},
		{"no time", Timeout(0), "timeout: 0s: it must be positive"},
		{"a negative grace time", Grace(-time.Second), "grace: -1s: it can't be negative"},
		{"watch mistake 25: no backoff", Backoff(0, time.Second), "backoff: 0s to 1s: both must be positive, the second not shorter"},
		{"a domain that makes no key", Domain("a b"), `domain "a b": not valid in keys of annotations: prefix part a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', and must start and end with an alphanumeric character (e.g. 'example.com', regex used for validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*')`},
		{"no domain", Domain(""), `domain "": not valid in keys of annotations: prefix part must be non-empty`},
		{"a backoff that shrinks", Backoff(2*time.Second, time.Second), "backoff: 2s to 1s: both must be positive, the second not shorter"},
		{"watch 13: a negative period", Period(-time.Minute), "period: -1m0s: it can't be negative"},
		{"no logger", Logger(nil), "nil logger"},
	} {
		t.Run(row.reason, func(t *testing.T) {
			t.Parallel()
			memory, err := dryrun.New(dryrun.AnyKind())
			require.NoError(t, err)
			engine, err := New(memory.View(), row.option)
			assert.Nil(t, engine)
			assert.EqualError(t, err, row.want)
		})
	}
	engine, err := New(nil)
	assert.Nil(t, engine)
	assert.EqualError(t, err, "nil view")
}

func TestControl(t *testing.T) {
	t.Parallel()
	inBubble(t, "watch 1, mistake 18: a kind has one reconciler, whatever the version", func(w *world) {
		engine := w.engine()
		other := widgets
		other.Version = "v2"
		assert.EqualError(w.t, engine.Control(other, w.reconciler), "example.dev/v2, Kind=Widget: has a reconciler already")
		assert.NoError(w.t, engine.Control(schema.GroupVersionKind{Group: "example.org", Version: "v1", Kind: "Widget"}, w.reconciler), "another group is another kind")
		assert.EqualError(w.t, engine.Control(regions, nil), "Region: nil reconciler")
		assert.EqualError(w.t, engine.Control(schema.GroupVersionKind{Kind: "Widget"}, w.reconciler), `kind "/, Kind=Widget": needs a version and a kind`)
		assert.EqualError(w.t, engine.Control(schema.GroupVersionKind{Version: "v1"}, w.reconciler), `kind "/v1, Kind=": needs a version and a kind`)
	})
	inBubble(t, "while it runs, too", func(w *world) {
		engine := w.start()
		w.create(object(regions, "", "north"))
		require.NoError(w.t, engine.Control(regions, w.reconciler))
		assert.Equal(w.t, []string{"Region north"}, w.settle())
	})
	inBubble(t, "each kind has its own", func(w *world) {
		engine := w.engine()
		other := &reconciler{}
		require.NoError(w.t, engine.Control(regions, other))
		w.create(widget("a"))
		w.create(object(regions, "", "north"))
		w.run(engine)
		assert.Equal(w.t, []string{"Widget shop/a"}, w.settle())
		assert.Equal(w.t, []string{"Region north"}, other.taken())
	})
}

func TestDefaultLogger(t *testing.T) {
	t.Parallel()
	o, err := newOptions(nil)
	require.NoError(t, err)
	assert.Same(t, slog.Default(), o.logger)
}
