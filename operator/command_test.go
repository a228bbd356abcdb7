package operator_test

import (
	"bytes"
	"path/filepath"
	"testing"

	"github.com/operkit/operkit/operator"
	"github.com/operkit/operkit/reconcile"
	"github.com/stretchr/testify/assert"
	"go.uber.org/goleak"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func TestArguments(t *testing.T) {
	t.Parallel()
	for _, row := range []struct {
		reason string
		args   []string
		code   int
		want   string
	}{
		{"an unknown flag", []string{"run", "--fast"}, 2, "unknown flag: --fast: see 'widget-operator run --help'"},
		{"an unknown command", []string{"fly"}, 2, `unknown command "fly"`},
		{"arguments where none belong", []string{"run", "now"}, 2, `unknown command "now"`},
		{"a dry run of nothing", []string{"run", "--dry-run"}, 2, "--dry-run needs the resource to render: add --cr FILE"},
		{"--cr against a cluster", []string{"run", "--cr", "x.yaml"}, 2, "--cr goes with --dry-run"},
		{"--output-dir against a cluster", []string{"run", "--output-dir", "x"}, 2, "--output-dir goes with --dry-run"},
		{"--show-secrets against a cluster", []string{"run", "--show-secrets"}, 2, "--show-secrets goes with --dry-run"},
		{"--show-disabled without a directory", []string{"run", "--dry-run", "--cr", "x.yaml", "--show-disabled"}, 2, "--show-disabled goes with --output-dir"},
		{"an output directory that is a file", []string{"run", "--dry-run", "--cr", filepath.Join("testdata", "widget.yaml"), "--output-dir", filepath.Join("testdata", "good.kubeconfig")}, 2, "--output-dir: manifests: mkdir testdata/good.kubeconfig: not a directory"},
		{"a file that isn't there", []string{"run", "--dry-run", "--cr", "/nowhere/cr.yaml"}, 2, "--cr: open /nowhere/cr.yaml: no such file"},
		{"a directory instead of a file", []string{"run", "--dry-run", "--cr", t.TempDir()}, 2, "is a directory"},
		{"a kubeconfig for a dry run", []string{"run", "--dry-run", "--cr", "x.yaml", "--kubeconfig", "x"}, 2, "--kubeconfig goes without --dry-run"},
		{"spec watch 5: a namespace that can't be one", []string{"run", "-n", "shop,No Where"}, 2, `--namespace "No Where": `},
		{"an empty namespace", []string{"run", "-n", "shop,"}, 2, `--namespace "": `},
		{"no workers", []string{"run", "--workers", "0"}, 2, "--workers 0: at least 1 is needed"},
		{"a log level that isn't one", []string{"run", "--log-level", "loud"}, 2, `--log-level "loud": use debug, info, warn or error`},
		{"a log format that isn't one", []string{"run", "--log-format", "xml"}, 2, `--log-format "xml": use text or json`},
		{"a kubeconfig that isn't there", []string{"run", "--kubeconfig", "/nowhere/config"}, 1, "kubeconfig /nowhere/config: stat /nowhere/config: no such file"},
		{"a kubeconfig that is none", []string{"run", "--kubeconfig", filepath.Join("testdata", "broken.kubeconfig")}, 1, "kubeconfig: "},
		{"an empty kubeconfig", []string{"run", "--kubeconfig", filepath.Join("testdata", "empty.kubeconfig")}, 1, "no cluster: "},
		{"a context that isn't there", []string{"run", "--kubeconfig", filepath.Join("testdata", "good.kubeconfig"), "--context", "moon"}, 1, `context "moon" does not exist`},
	} {
		t.Run(row.reason, func(t *testing.T) {
			t.Parallel()
			code, _, log := execute(t, row.args...)
			assert.Equal(t, row.code, code, log)
			assert.Contains(t, log, "widget-operator: ")
			assert.Contains(t, log, row.want)
		})
	}
}

func TestHelp(t *testing.T) {
	t.Parallel()
	code, out, _ := execute(t)
	assert.Zero(t, code, "without a command it helps")
	assert.Contains(t, out, "Kubernetes operator for Widget")
	assert.Contains(t, out, "run ")
	code, out, _ = execute(t, "run", "--help")
	assert.Zero(t, code)
	assert.Contains(t, out, "widget-operator run --dry-run --cr sample.yaml")
}

// noKind is a controller that forgot what it controls.
type noKind struct{ widget }

func (noKind) Kind() schema.GroupVersionKind { return schema.GroupVersionKind{} }

func TestOperatorMistakes(t *testing.T) {
	t.Parallel()
	controlling := func(controllers ...reconcile.Controller) *operator.Operator {
		op := operator.New("broken-operator")
		for _, c := range controllers {
			op.Control(c)
		}
		return op
	}
	finalizer := operator.New("broken-operator")
	finalizer.Control(widget{}, reconcile.FinalizerName("example.com/x"))
	for _, row := range []struct {
		reason   string
		operator *operator.Operator
		want     string
	}{
		{"no name", operator.New(""), "the operator has no name"},
		{"no controller", controlling(), "has no controller"},
		{"a nil controller", controlling(nil), "controller: is nil"},
		{"a controller without a kind", controlling(noKind{}), "needs a version and a kind"},
		{"two controllers of one kind", controlling(widget{}, widget{}), "has a reconciler already"},
		{"spec reconcile mistake 15: a finalizer's name without Finalize", finalizer, "but no Finalize"},
	} {
		t.Run(row.reason, func(t *testing.T) {
			t.Parallel()
			var out, log bytes.Buffer
			code := row.operator.Execute(t.Context(), []string{"run", "--kubeconfig", filepath.Join("testdata", "good.kubeconfig")}, &out, &log)
			assert.Equal(t, 1, code)
			assert.Contains(t, log.String(), row.want)
		})
	}
}
