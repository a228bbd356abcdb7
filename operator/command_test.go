package operator_test

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"

	"github.com/operkit/operkit/operator"
	"github.com/operkit/operkit/reconcile"
	"github.com/stretchr/testify/assert"
	"go.uber.org/goleak"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// TestMain makes the process an operator when the environment says so.
func TestMain(m *testing.M) {
	if os.Getenv(asOperator) != "" {
		operate()
	}
	goleak.VerifyTestMain(m)
}

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
		{"spec watch 5: a pattern that is none", []string{"run", "-n", "team-["}, 2, `--namespace "team-[": is no name and no pattern such as team-*`},
		{"spec watch 5: a pattern that fits nothing", []string{"run", "-n", "Team-*"}, 2, `--namespace "Team-*": `},
		{"spec watch 5: nothing is left out", []string{"run", "-n", "!"}, 2, `--namespace "!": `},
		{"demand 19: labels that are none", []string{"run", "--namespace-selector", "tier in prod"}, 2, `--namespace-selector "tier in prod": unable to parse requirement`},
		{"watch 16, mistake 9: a period that is none", []string{"run", "--reconcile-period", "often"}, 2, `invalid argument "often" for "--reconcile-period" flag: it is no duration: write such as 90s, 500ms, 1h30m or 1hr30m, and 24h for a day`},
		{"watch 16, mistake 9: a day", []string{"run", "--reconcile-period", "1d"}, 2, `invalid argument "1d" for "--reconcile-period" flag: it is no duration`},
		{"watch 13: a period before", []string{"run", "--reconcile-period", "-1m"}, 2, "--reconcile-period -1m0s: it can't be negative; 0 is never"},
		{"watch 31: a filter that there isn't", []string{"run", "--filter", "labels"}, 2, `--filter "labels": there is none of that name: use default, annotation or user-annotation`},
		{"labels of namespaces for a dry run", []string{"run", "--dry-run", "--cr", "x.yaml", "--namespace-selector", "a"}, 2, "--namespace-selector goes without --dry-run"},
		{"a period for a dry run", []string{"run", "--dry-run", "--cr", "x.yaml", "--reconcile-period", "1m"}, 2, "--reconcile-period goes without --dry-run"},
		{"a filter for a dry run", []string{"run", "--dry-run", "--cr", "x.yaml", "--filter", "default"}, 2, "--filter goes without --dry-run"},
		{"watch mistake 24: no workers", []string{"run", "--workers", "0"}, 2, "--workers 0: at least 1 is needed"},
		{"watch mistake 24: less than none", []string{"run", "--workers", "-1"}, 2, "--workers -1: at least 1 is needed"},
		{"no requests", []string{"run", "--kube-api-qps", "0"}, 2, "--kube-api-qps 0: it must be more than 0"},
		{"requests that can't be counted", []string{"run", "--kube-api-qps", "nan"}, 2, "--kube-api-qps NaN: it must be more than 0"},
		{"not one at once", []string{"run", "--kube-api-qps", "5", "--kube-api-burst", "0"}, 2, "--kube-api-burst 0: at least 1 is needed"},
		{"a burst of what isn't said", []string{"run", "--kube-api-burst", "5"}, 2, "--kube-api-burst goes with --kube-api-qps"},
		{"a limit of requests for a dry run", []string{"run", "--dry-run", "--cr", "x.yaml", "--kube-api-qps", "5"}, 2, "--kube-api-qps goes without --dry-run"},
		{"a log level that isn't one", []string{"run", "--log-level", "loud"}, 2, `--log-level "loud": use debug, info, warn or error`},
		{"a log format that isn't one", []string{"run", "--log-format", "xml"}, 2, `--log-format "xml": use text or json`},
		{"watch 32: a lock that there isn't", []string{"run", "--leader-election", "luck"}, 2, `--leader-election "luck": use auto, lease, for-life, per-object or none`},
		{"watch 16: oper8's form of a time that doesn't fit", lease("--lease-duration", "0hr5s"), 2, "duration: 5s: it must be longer than the renew deadline of 10s"},
		{"a time of a Lease without one", []string{"run", "--leader-election", "none", "--retry-period", "1s"}, 2, "--retry-period has no meaning with --leader-election none"},
		{"a time of a Lease for life", []string{"run", "--leader-election", "for-life", "--lease-duration", "1m"}, 2, "--lease-duration has no meaning with --leader-election for-life"},
		{"a place of locks per object", []string{"run", "--leader-election", "per-object", "--leader-election-namespace", "x"}, 2, "--leader-election-namespace has no meaning with --leader-election per-object"},
		{"watch mistake 25: no time of a lock per object", []string{"run", "--kubeconfig", filepath.Join("testdata", "good.kubeconfig"), "--leader-election", "per-object", "--retry-period", "0s"}, 2, "leader election: lock per object: retry period: 0s: it must be positive"},
		{"watch 32: no time", []string{"run", "--retry-period", "often"}, 2, `invalid argument "often" for "--retry-period"`},
		{"watch mistake 25: a time that is none", lease("--retry-period", "0s"), 2, "leader election: lease: retry period: 0s: it must be positive"},
		{"times that don't fit", lease("--lease-duration", "5s"), 2, "duration: 5s: it must be longer than the renew deadline of 10s"},
		{"a name that can't be one", lease("--leader-election-name", "No Name"), 2, `name "shop/No Name": `},
		{"watch 32: a Lease without a namespace", []string{"run", "--kubeconfig", filepath.Join("testdata", "good.kubeconfig"), "--leader-election", "lease"}, 2, "--leader-election lease needs --leader-election-namespace outside of a Pod"},
		{"a leader of a dry run", []string{"run", "--dry-run", "--cr", "x.yaml", "--leader-election", "lease"}, 2, "--leader-election goes without --dry-run"},
		{"the name of a lock for a dry run", []string{"run", "--dry-run", "--cr", "x.yaml", "--leader-election-name", "x"}, 2, "--leader-election-name goes without --dry-run"},
		{"the namespace of a lock for a dry run", []string{"run", "--dry-run", "--cr", "x.yaml", "--leader-election-namespace", "x"}, 2, "--leader-election-namespace goes without --dry-run"},
		{"the times of a lock for a dry run", []string{"run", "--dry-run", "--cr", "x.yaml", "--lease-duration", "1m"}, 2, "--lease-duration goes without --dry-run"},
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

// lease runs the operator under a Lease, with further flags.
func lease(flags ...string) []string {
	return append([]string{"run", "--kubeconfig", filepath.Join("testdata", "good.kubeconfig"), "--leader-election", "lease", "--leader-election-namespace", "shop"}, flags...)
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
	assert.Contains(t, out, `(default "auto")`)
	assert.Contains(t, out, "how long nobody takes over what isn't renewed (default 15s)")
	assert.NotContains(t, out, "(default 0", "what isn't set has no default")
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
