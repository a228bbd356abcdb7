package operator_test

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
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
		{"an unknown flag", []string{"run", "--fast"}, 2, "unknown flag: --fast (see 'widget-operator run --help')"},
		{"an unknown command", []string{"fly"}, 2, `unknown command "fly"`},
		{"one that is nearly one", []string{"confg"}, 2, `unknown command "confg": did you mean config?`},
		{"one of kubectl", []string{"apply", "-f", "x.yaml"}, 2, `unknown command "apply": did you mean reconcile?`},
		{"one of another operator's", []string{"manager"}, 2, `unknown command "manager": did you mean run?`},
		{"one of which there are several", []string{"re"}, 2, `unknown command "re": did you mean reconcile, release, render, resume or run?`},
		{"a flag that is nearly one", []string{"run", "--log.lvl=info"}, 2, "unknown flag: --log.lvl: did you mean --log.level? (see 'widget-operator run --help')"},
		{"arguments where none belong", []string{"run", "now"}, 2, `"now": run takes no arguments: see 'widget-operator run --help'`},
		{"operator 2: a dry run of nothing", []string{"run", "--dry-run"}, 2, "--dry-run needs the resource to render: add --cr FILE"},
		{"operator 2: --cr against a cluster", []string{"run", "--cr", "x.yaml"}, 2, "--cr needs --dry-run"},
		{"--output-dir against a cluster", []string{"run", "--output-dir", "x"}, 2, "--output-dir needs --dry-run"},
		{"--show-secrets against a cluster", []string{"run", "--show-secrets"}, 2, "--show-secrets needs --dry-run"},
		{"--show-disabled without a directory", []string{"run", "--dry-run", "--cr", "x.yaml", "--show-disabled"}, 2, "--show-disabled needs --output-dir"},
		{"an output directory that is a file", []string{"run", "--dry-run", "--cr", filepath.Join("testdata", "widget.yaml"), "--output-dir", filepath.Join("testdata", "good.kubeconfig")}, 2, "--output-dir: manifests: mkdir testdata/good.kubeconfig: not a directory"},
		{"operator 2: a file that isn't there", []string{"run", "--dry-run", "--cr", "/nowhere/cr.yaml"}, 2, "--cr: open /nowhere/cr.yaml: no such file"},
		{"operator 2: a directory without files", []string{"run", "--dry-run", "--cr", t.TempDir()}, 2, "holds no resource"},
		{"spec watch 5: a namespace that can't be one", []string{"run", "-n", "shop,No Where"}, 2, `--namespace "[shop,No Where]": `},
		{"spec watch 5: a pattern that is none", []string{"run", "-n", "team-["}, 2, `--namespace "[team-[]": namespace "team-[": neither a name nor a pattern: use something like team-*`},
		{"spec watch 5: a pattern that fits nothing", []string{"run", "-n", "Team-*"}, 2, `--namespace "[Team-*]": `},
		{"spec watch 5: nothing is left out", []string{"run", "-n", "!"}, 2, `--namespace "[!]": `},
		{"demand 19: labels that are none", []string{"run", "--watch.namespace-selector", "tier in prod"}, 2, `--watch.namespace-selector "tier in prod": unable to parse requirement`},
		{"watch 16, mistake 9: a period that is none", []string{"run", "--watch.period", "often"}, 2, `--watch.period "often": invalid duration: write for example 90s, 500ms, 1h30m or 1hr30m, and 24h for a day`},
		{"watch 16, mistake 9: a day", []string{"run", "--watch.period", "1d"}, 2, `--watch.period "1d": invalid duration`},
		{"watch 13: a period before", []string{"run", "--watch.period", "-1m"}, 2, `--watch.period "-1m0s": it can't be negative`},
		{"watch 31: a filter that there isn't", []string{"run", "--watch.filter", "labels"}, 2, `--watch.filter "labels": filter "labels": unknown name: use default, annotation or user-annotation`},
		{"watch mistake 24: less than none", []string{"run", "--watch.workers", "-1"}, 2, `--watch.workers "-1": it can't be negative`},
		{"no requests", []string{"run", "--kube-api.qps", "0"}, 2, `--kube-api.qps "0": it must be more than 0`},
		{"requests that can't be counted", []string{"run", "--kube-api.qps", "nan"}, 2, `--kube-api.qps "NaN": it must be more than 0`},
		{"less than one at once", []string{"run", "--kube-api.qps", "5", "--kube-api.burst", "-1"}, 2, `--kube-api.burst "-1": it can't be negative`},
		{"a log level that isn't one", []string{"run", "--log.level", "loud"}, 2, `--log.level "loud": level "loud": use off, error, warning, info, debug`},
		{"a log format that isn't one", []string{"run", "--log.format", "xml"}, 2, `--log.format "xml": use text or json`},
		{"watch 32: a lock that there isn't", []string{"run", "--leader-election.lock", "luck"}, 2, `--leader-election.lock "luck": use auto, lease, for-life, per-object or none`},
		{"watch 16: oper8's form of a time that doesn't fit", lease("--leader-election.duration", "0hr5s"), 2, "duration: 5s: it must be longer than the renew deadline of 10s"},
		{"a time of a Lease without one", []string{"run", "--leader-election.lock", "none", "--leader-election.retry-period", "1s"}, 2, `--leader-election.retry-period "1s": it has no meaning with leader-election.lock none`},
		{"a time of a Lease for life", []string{"run", "--leader-election.lock", "for-life", "--leader-election.duration", "1m"}, 2, `--leader-election.duration "1m0s": it has no meaning with leader-election.lock for-life`},
		{"a place of locks per object", []string{"run", "--leader-election.lock", "per-object", "--leader-election.namespace", "x"}, 2, `--leader-election.namespace "x": it has no meaning with leader-election.lock per-object`},
		{"watch mistake 25: no time of a lock per object", []string{"run", "--kubeconfig", filepath.Join("testdata", "good.kubeconfig"), "--leader-election.lock", "per-object", "--leader-election.retry-period", "0s"}, 2, `leader-election.retry-period "0": it must be positive`},
		{"watch 32: no time", []string{"run", "--leader-election.retry-period", "often"}, 2, `--leader-election.retry-period "often": invalid duration`},
		{"watch mistake 25: a time that is none", lease("--leader-election.retry-period", "0s"), 2, `leader-election.retry-period "0": it must be positive`},
		{"times that don't fit", lease("--leader-election.duration", "5s"), 2, "duration: 5s: it must be longer than the renew deadline of 10s"},
		{"a name that can't be one", lease("--leader-election.name", "No Name"), 2, `name "shop/No Name": `},
		{"watch 32: a Lease without a namespace", []string{"run", "--kubeconfig", filepath.Join("testdata", "good.kubeconfig"), "--leader-election.lock", "lease"}, 2, "leader-election.lock lease needs leader-election.namespace outside of a Pod"},
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
	return append([]string{"run", "--kubeconfig", filepath.Join("testdata", "good.kubeconfig"), "--leader-election.lock", "lease", "--leader-election.namespace", "shop"}, flags...)
}

func TestHelp(t *testing.T) {
	t.Parallel()
	t.Run("operator 1, mistake 7: without a command it helps", func(t *testing.T) {
		t.Parallel()
		code, out, _ := execute(t)
		assert.Zero(t, code)
		assert.Contains(t, out, "Kubernetes operator for Widget")
		assert.Contains(t, out, "run ")
	})
	for _, command := range []string{
		"run", "render", "graph", "diff", "reconcile", "status", "trigger", "pause", "resume", "config", "check-heartbeat", "version",
	} {
		t.Run("operator 1: every command takes every setting, and shows how it is called: "+command, func(t *testing.T) {
			t.Parallel()
			code, out, log := execute(t, command, "--watch.workers", "4", "--leader-election.lock", "none", "--help")
			assert.Zero(t, code, log)
			assert.Contains(t, out, "Examples:\n  widget-operator "+command)
		})
	}
	code, out, _ := execute(t, "run", "--help")
	assert.Zero(t, code)
	assert.Contains(t, out, "widget-operator run --dry-run --cr sample.yaml")
	assert.Contains(t, out, `(default "auto")`)
	assert.Contains(t, strings.Join(strings.Fields(out), " "), "time without renewal after which another replica takes over (default 15s)")
	assert.NotContains(t, out, "(default 0", "what isn't set has no default")
}

func TestDryRunAsksNobody(t *testing.T) {
	t.Parallel()
	t.Run("operator 3: a dry run wins, whatever is said of a cluster", func(t *testing.T) {
		t.Parallel()
		code, out, log := execute(t, "run", "--dry-run", "--cr", filepath.Join("testdata", "widget.yaml"), "--kubeconfig", "/nowhere/config", "--leader-election.lock", "for-life")
		assert.Zero(t, code, log)
		assert.Contains(t, out, "kind: ConfigMap")
	})
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
		{"operator 4: no controller is told before anything is asked", controlling(), "has no controller"},
		{"a nil controller", controlling(nil), "nil controller: pass a controller to Control"},
		{"operator 4: a controller without a kind is told before anything is asked", controlling(noKind{}), "needs a version and a kind"},
		{"operator 4: two controllers of one kind is told before anything is asked", controlling(widget{}, widget{}), "has a reconciler already"},
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
