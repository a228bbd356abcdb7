package operator

import (
	"bytes"
	"context"
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"github.com/operkit/operkit/deploy"
	"github.com/operkit/operkit/deploy/dryrun"
	"github.com/operkit/operkit/operator/config"
	"github.com/operkit/operkit/reconcile"
	"github.com/operkit/operkit/reconcile/request"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

func TestLogger(t *testing.T) {
	t.Parallel()
	say := func(c config.Log) []string {
		var out bytes.Buffer
		logger := newLogger(&out, c)
		logger.Debug("debug")
		logger.Info("info")
		logger.With(reconcile.Channel, "billing").Debug("billing")
		var said []string
		for line := range strings.Lines(out.String()) {
			for _, word := range []string{"debug", "info", "billing"} {
				if strings.Contains(line, "msg="+word) || strings.Contains(line, `"msg":"`+word) {
					said = append(said, word)
				}
			}
		}
		return said
	}
	for reason, row := range map[string]struct {
		config config.Log
		want   []string
	}{
		"operator 18: a level":           {config.Log{Level: "info", Format: "text"}, []string{"info"}},
		"operator 18: below it":          {config.Log{Level: "debug4", Format: "json"}, []string{"debug", "info", "billing"}},
		"operator 18: off":               {config.Log{Level: "off", Format: "text"}, nil},
		"operator 18: more of a channel": {config.Log{Level: "error", Format: "json", Filters: []string{"billing:debug", "mail:off"}}, []string{"billing"}},
		"operator 18: less of a channel": {config.Log{Level: "debug", Format: "text", Filters: []string{"billing:off"}}, []string{"debug", "info"}},
	} {
		t.Run(reason, func(t *testing.T) {
			t.Parallel()
			assert.Equal(t, row.want, say(row.config))
		})
	}
}

// talkative says something in each reconcile.
type talkative struct{ nothing }

func (talkative) Setup(ctx context.Context, s *reconcile.Session) error {
	reconcile.LoggerOf(ctx).Info("said")
	return nil
}

func TestLinesOfAReconcile(t *testing.T) {
	t.Parallel()
	lines := func(t *testing.T, format string, times int) string {
		t.Helper()
		object := &unstructured.Unstructured{}
		object.SetGroupVersionKind(nothing{}.Kind())
		object.SetNamespace("shop")
		object.SetName("a")
		memory, err := dryrun.New(dryrun.AnyKind(), dryrun.Objects(object))
		require.NoError(t, err)
		var out bytes.Buffer
		manager, err := deploy.NewManager(memory)
		require.NoError(t, err)
		reconciler, err := reconcile.New(talkative{}, manager, reconcile.Logger(newLogger(&out, config.Log{Level: "info", Format: format})))
		require.NoError(t, err)
		for range times {
			_, err = reconciler.Reconcile(t.Context(), request.Request{Key: deploy.Ref{Kind: nothing{}.Kind(), Namespace: "shop", Name: "a"}})
			require.NoError(t, err)
		}
		return out.String()
	}
	t.Run("operator 18: as JSON they tell the resource and the reconcile", func(t *testing.T) {
		t.Parallel()
		out := lines(t, "json", 1)
		var line struct {
			Message   string            `json:"msg"`
			Reconcile string            `json:"reconcile"`
			Object    map[string]string `json:"object"`
		}
		require.NoError(t, json.Unmarshal([]byte(out), &line), out)
		assert.Equal(t, "said", line.Message)
		assert.Len(t, line.Reconcile, 22)
		assert.NotEmpty(t, line.Object["resourceVersion"])
		delete(line.Object, "resourceVersion")
		assert.Equal(t, map[string]string{"apiVersion": "example.dev/v1", "kind": "Nothing", "namespace": "shop", "name": "a"}, line.Object)
	})
	t.Run("as text they name it", func(t *testing.T) {
		t.Parallel()
		out := lines(t, "text", 1)
		assert.Contains(t, out, `msg=said object="Nothing shop/a" reconcile=`)
	})
	t.Run("operator 18: each reconcile is told apart, and a settled one says nothing of its own", func(t *testing.T) {
		t.Parallel()
		out := lines(t, "text", 3)
		assert.Len(t, slices.Compact(strings.Split(strings.TrimSpace(out), "\n")), 3)
		assert.Equal(t, 3, strings.Count(out, "msg=said"))
	})
}
