package operator_test

import (
	"bytes"
	"context"
	"errors"
	"os"
	"path/filepath"
	"testing"

	"github.com/operkit/operkit/operator"
	"github.com/operkit/operkit/reconcile"
	"github.com/operkit/operkit/reconcile/request"
	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

var widgetKind = schema.GroupVersionKind{Group: "example.com", Version: "v1", Kind: "Widget"}

// widget controls Widgets: a component "first", and "second" that waits for it. The spec can ask for mistakes.
type widget struct{}

func (widget) Kind() schema.GroupVersionKind { return widgetKind }

func (widget) Setup(_ context.Context, s *reconcile.Session) error {
	var resource struct {
		Spec struct {
			Mistake string `json:"mistake"`
		} `json:"spec"`
	}
	if err := s.Into(&resource); err != nil {
		return err
	}
	second := s.Add("second", configMap("second"))
	first := s.Add("first", configMap("first"))
	second.After(first, reconcile.Ready)
	switch resource.Spec.Mistake {
	case "error":
		return errors.New("the moon is in the wrong phase")
	case "waiting":
		return request.Precondition("the tide isn't in")
	case "cycle":
		first.After(second)
	case "nil":
		s.Add("third", nil)
	case "no name":
		s.Add("third", map[string]any{"apiVersion": "v1", "kind": "ConfigMap"})
	case "list":
		s.Add("third", map[string]any{"apiVersion": "v1", "kind": "ConfigMapList", "items": []any{}})
	case "panic":
		panic("out of cheese")
	}
	return nil
}

func configMap(name string) map[string]any {
	return map[string]any{"apiVersion": "v1", "kind": "ConfigMap", "metadata": map[string]any{"name": name},
		"data": map[string]any{"of": name}}
}

func newOperator() *operator.Operator {
	op := operator.New("widget-operator")
	op.Control(widget{})
	return op
}

// execute runs the operator's command and returns what its process would.
func execute(t *testing.T, args ...string) (code int, stdout, stderr string) {
	t.Helper()
	var out, log bytes.Buffer
	code = newOperator().Execute(t.Context(), args, &out, &log)
	return code, out.String(), log.String()
}

// file writes content into a file of the test.
func file(t *testing.T, content string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "cr.yaml")
	require.NoError(t, os.WriteFile(path, []byte(content), 0o600))
	return path
}

const sample = `apiVersion: example.com/v1
kind: Widget
metadata: {name: sample, namespace: shop}
spec: {}
`
