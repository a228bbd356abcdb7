package operator_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"github.com/operkit/operkit/deploy"
	"github.com/operkit/operkit/deploy/cluster"
	"github.com/operkit/operkit/operator"
	"github.com/operkit/operkit/operator/config"
	"github.com/operkit/operkit/reconcile"
	"github.com/operkit/operkit/reconcile/kinds"
	"github.com/operkit/operkit/reconcile/patching"
	"github.com/operkit/operkit/reconcile/request"
	"github.com/operkit/operkit/reconcile/temporarypatch"
	"github.com/operkit/operkit/reconcile/watch"
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

func Example() {
	op := operator.New("widget-operator")
	op.Control(widget{})
	// In main: op.Main(). Execute does the same without ending the process.
	dir, err := os.MkdirTemp("", "example")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer os.RemoveAll(dir)
	path := filepath.Join(dir, "widget.yaml")
	if err := os.WriteFile(path, []byte(sample), 0o600); err != nil {
		fmt.Println(err)
		return
	}
	code := op.Execute(context.Background(), []string{"run", "--dry-run", "--cr", path}, os.Stdout, os.Stderr)
	fmt.Println("exit code", code)
	// Output:
	// ---
	// # first: ConfigMap/first
	// apiVersion: v1
	// data:
	//   of: first
	// kind: ConfigMap
	// metadata:
	//   name: first
	//   namespace: shop
	// ---
	// # second: ConfigMap/second
	// apiVersion: v1
	// data:
	//   of: second
	// kind: ConfigMap
	// metadata:
	//   name: second
	//   namespace: shop
	// exit code 0
}

func ExampleNew() {
	op := operator.New("widget-operator")
	op.Control(widget{})
	fmt.Println(op.Execute(context.Background(), []string{"run", "--dry-run"}, os.Stdout, os.Stdout))
	// Output:
	// widget-operator: --dry-run needs the resource to render: add --cr FILE
	// 2
}

func ExampleManager() {
	// The widgets are those of an operator that was called otherwise.
	op := operator.New("widget-operator", operator.Manager(deploy.FieldManager("widgets")), operator.Command(func(open operator.Opener) *cobra.Command {
		return &cobra.Command{Use: "who", Short: "Say who applies", RunE: func(cmd *cobra.Command, _ []string) error {
			p, err := open(cmd)
			if err != nil {
				return err
			}
			cmd.Println(p.Operator, "applies as", p.FieldManager)
			return nil
		}}
	}))
	op.Control(widget{})
	op.Execute(context.Background(), []string{"who"}, os.Stdout, os.Stdout)
	// Output: widget-operator applies as widgets
}

func ExampleManager_defaultNamespace() {
	// A cluster-scoped resource has what names no namespace in this one.
	op := operator.New("region-operator", operator.Manager(deploy.DefaultNamespace("regions")), operator.Command(func(open operator.Opener) *cobra.Command {
		return &cobra.Command{Use: "where", Short: "Say where things are", RunE: func(cmd *cobra.Command, _ []string) error {
			p, err := open(cmd)
			if err != nil {
				return err
			}
			cmd.Println("in", p.DefaultNamespace)
			return nil
		}}
	}))
	op.Control(widget{})
	op.Execute(context.Background(), []string{"where"}, os.Stdout, os.Stdout)
	// Output: in regions
}

func ExampleDefaults() {
	op := operator.New("guestbook-operator", operator.Defaults(func(c *config.Config) { c.LeaderElection.Duration = time.Minute }))
	op.Control(widget{})
	op.Execute(context.Background(), []string{"config", "leader-election.duration"}, os.Stdout, os.Stdout)
	// Flags, the environment and a file have the last word.
	fmt.Println(op.Execute(context.Background(), []string{"run", "--leader-election.retry-period", "30s"}, os.Stdout, os.Stdout))
	// Output:
	// KEY                        VALUE   SOURCE
	// leader-election.duration   1m0s    default
	// guestbook-operator: leader-election: renew deadline: 10s: two retry periods of 30s don't fit into it
	// 2
}

func ExampleFlags() {
	var currency string
	op := operator.New("guestbook-operator",
		operator.Defaults(func(c *config.Config) { c.LeaderElection.Duration = time.Minute }),
		operator.Flags(func(set *pflag.FlagSet) { set.StringVar(&currency, "till.currency", "EUR", "currency of tills") }), // settings of your own
	)
	op.Control(widget{})
	op.Execute(context.Background(), []string{"config", "--till.currency", "CHF", "-o", "yaml", "till"}, os.Stdout, os.Stdout)
	fmt.Println(currency)
	// Output:
	// till:
	//   currency: CHF # --till.currency
	// CHF
}

func ExampleOper8Environment() {
	op := operator.New("guestbook-operator", operator.Oper8Environment())
	op.Control(widget{})
	// With LOG_LEVEL=debug in the environment, log.level is debug.
	fmt.Println(op.Execute(context.Background(), []string{"config", "objects"}, os.Stdout, os.Stdout))
	// Output:
	// KEY                      VALUE   SOURCE
	// objects.internal-names   false   default
	// 0
}

// dryRun runs an operator of widgets on documents, and prints what becomes of the object "first".
func dryRun(documents string, options ...operator.Option) {
	op := operator.New("widget-operator", options...)
	op.Control(widget{})
	dir, err := os.MkdirTemp("", "example")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer os.RemoveAll(dir)
	path := filepath.Join(dir, "documents.yaml")
	if err := os.WriteFile(path, []byte(documents), 0o600); err != nil {
		fmt.Println(err)
		return
	}
	var out bytes.Buffer
	code := op.Execute(context.Background(), []string{"run", "--dry-run", "--cr", path}, &out, io.Discard)
	for line := range strings.Lines(out.String()) {
		if strings.HasPrefix(line, "  of: ") {
			fmt.Print(strings.TrimSpace(line), "\n")
		}
	}
	fmt.Println("exit code", code)
}

func ExampleWithoutTemporaryPatches() {
	documents := sample + sets("hotfix", "patched")
	dryRun(documents)
	// A TemporaryPatch is now a kind that the operator doesn't know.
	dryRun(documents, operator.WithoutTemporaryPatches())
	// Output:
	// of: patched
	// of: second
	// exit code 0
	// of: first
	// of: second
	// exit code 2
}

func ExampleWatches() {
	// region watches
	op := operator.New("guestbook-operator", operator.Watches(
		cluster.MetadataOnly(schema.GroupKind{Kind: "Secret"}),
		cluster.Selected(schema.GroupKind{Kind: "Node"}, labels.SelectorFromSet(labels.Set{"zone": "north"}), nil),
	))
	// endregion watches
	op.Control(widget{})
	// Which namespaces are watched is said by whoever runs it.
	args := []string{"run", "--namespace", "team-*,!team-x", "--watch.namespace-selector", "tier in prod"}
	fmt.Println(op.Execute(context.Background(), args, os.Stdout, os.Stdout))
	// Output:
	// guestbook-operator: --watch.namespace-selector "tier in prod": unable to parse requirement: found 'prod' expected: '('
	// 2
}

func ExampleTemporaryPatches() {
	hotfix := schema.GroupVersionKind{Group: "support.example.com", Version: "v1", Kind: "Hotfix"}
	dryRun(sample+`---
apiVersion: support.example.com/v1
kind: Hotfix
metadata: {name: tonight, namespace: shop}
spec:
  apiVersion: example.com/v1
  kind: Widget
  name: sample
  patchType: strategic
  patch: {first: {configmap/first: {data: {of: tonight}}}}
`, operator.TemporaryPatches(temporarypatch.As(hotfix)))
	// Output:
	// of: tonight
	// of: second
	// exit code 0
}

// An extension may replace controllers in some processes, such as by those of another version.
func ExampleExtend() {
	op := operator.New("widget-operator", operator.WithoutTemporaryPatches(), operator.Extend(
		func(_ context.Context, p operator.Process) (operator.Extension, error) {
			fmt.Println("extending", len(p.Controllers), "controller of", p.Operator)
			return operator.Extension{Controllers: []reconcile.Controller{gadget{widgetKind}}, Close: func(context.Context) error { fmt.Println("closed"); return nil }}, nil
		}))
	op.Control(widget{})
	dir, err := os.MkdirTemp("", "example")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer os.RemoveAll(dir)
	path := filepath.Join(dir, "widget.yaml")
	if err := os.WriteFile(path, []byte(sample), 0o600); err != nil {
		fmt.Println(err)
		return
	}
	op.Execute(context.Background(), []string{"graph", "-f", path}, os.Stdout, io.Discard)
	// Output:
	// extending 1 controller of widget-operator
	// COMPONENT   WAITS FOR
	// gadget      -
	// closed
}

func ExampleCommand() {
	op := operator.New("widget-operator", operator.Command(func(open operator.Opener) *cobra.Command {
		return &cobra.Command{Use: "kinds", Short: "List the kinds", RunE: func(cmd *cobra.Command, _ []string) error {
			p, err := open(cmd)
			if err != nil {
				return err
			}
			for _, c := range p.Controllers {
				cmd.Println(c.Kind().Kind)
			}
			return nil
		}}
	}))
	op.Control(widget{})
	op.Execute(context.Background(), []string{"kinds"}, os.Stdout, os.Stdout)
	// Output: Widget
}

// Main is what a program's main calls last: it reads the arguments and ends the process.
func ExampleOperator_Main() {
	main := func() {
		op := operator.New("widget-operator")
		op.Control(widget{})
		op.Main()
	}
	if os.Getenv("WIDGET_MAIN") != "" { // this process is the program
		os.Args = []string{"widget-operator", "run", "--dry-run"}
		main()
	}
	program := exec.Command(os.Args[0], "-test.run=^ExampleOperator_Main$")
	program.Env = append(os.Environ(), "WIDGET_MAIN=1")
	program.Stderr = os.Stdout
	fmt.Println(program.Run())
	// Output:
	// widget-operator: --dry-run needs the resource to render: add --cr FILE
	// exit status 2
}

// Reconciles of this kind are expensive, so few of them run at a time.
func ExampleReconciles() {
	op := operator.New("widget-operator", operator.Reconciles(widgetKind, watch.Workers(1), watch.Timeout(0)))
	op.Control(widget{})
	op.Execute(context.Background(), offline, os.Stdout, os.Stdout)
	// Output: widget-operator: controller operator_test.widget: Widget: timeout: 0s: it must be positive
}

func ExampleExtension() {
	op := operator.New("widget-operator", operator.Extend(func(_ context.Context, p operator.Process) (operator.Extension, error) {
		fmt.Println("observing", p.Operator, p.Runs, "with", len(p.Controllers), "controller")
		if os.Getenv("TRACES") == "" {
			return operator.Extension{}, errors.New("TRACES: say where traces go")
		}
		return operator.Extension{Transport: func(next http.RoundTripper) http.RoundTripper { return next }}, nil
	}))
	op.Control(widget{})
	args := []string{"run", "--kubeconfig", filepath.Join("testdata", "good.kubeconfig"), "--leader-election.lock", "none"}
	fmt.Println(op.Execute(context.Background(), args, os.Stdout, os.Stdout))
	// Output:
	// observing widget-operator true with 1 controller
	// widget-operator: TRACES: say where traces go
	// 1
}

func ExampleManager_takeOverFrom() {
	// The widgets were looked after by an operator of another name, which is stopped.
	op := operator.New("widget-operator", operator.Manager(deploy.TakeOverFrom("gadget-operator")))
	op.Control(widget{})
	fmt.Println(op.Execute(context.Background(), []string{"diff", "--no-such-flag"}, os.Stdout, os.Stdout))
	// Output:
	// widget-operator: unknown flag: --no-such-flag (see 'widget-operator diff --help')
	// 2
}

// greeter is a reconciler of no particular style: it applies a greeting for each gear.
type greeter struct{ env watch.Env }

func (g greeter) Reconcile(ctx context.Context, req request.Request) (request.Result, error) {
	gear, err := g.env.Manager.View().Get(ctx, req.Key)
	if err != nil || gear == nil {
		return request.Result{}, err
	}
	greeting := &unstructured.Unstructured{Object: map[string]any{"data": map[string]any{"hello": gear.GetName()}}}
	greeting.SetGroupVersionKind(configMaps)
	greeting.SetNamespace(gear.GetNamespace())
	greeting.SetName(gear.GetName())
	_, err = g.env.Manager.Apply(ctx, []*unstructured.Unstructured{greeting}, deploy.OwnedBy(gear))
	return request.Result{}, err
}

func ExampleOperator_Drive() {
	op := operator.New("gear-operator")
	op.Drive(watch.NewController(gears, func(_ context.Context, env watch.Env) (watch.Reconciler, error) {
		return greeter{env}, nil
	}))
	// In main: op.Main(). Commands that need components refuse gears, which have none.
	code := op.Execute(context.Background(), []string{"render", "-f", "testdata/gear.yaml"}, os.Stdout, os.Stdout)
	fmt.Println("exit code", code)
	// Output:
	// gear-operator: testdata/gear.yaml, Gear one: a Gear has no components, which this command needs, and this operator controls no kind with components
	// exit code 2
}

func ExampleOperator_DriveKinds() {
	op := operator.New("shop-operator")
	// All kinds of the groups of example.dev that can be patched, whenever they come, four objects of each kind at once.
	selector := kinds.Selector{Group: "*.example.dev", Options: func(deploy.ServedKind) []watch.Option {
		return []watch.Option{watch.Workers(4)}
	}}
	op.DriveKinds(selector, func(_ context.Context, env watch.Env, kind deploy.ServedKind) (watch.Reconciler, error) {
		env.Logger.Info("a kind has come", "kind", kind.Kind.Kind, "resource", kind.Resource)
		return greeter{env}, nil
	}, "patch")
	// In main: op.Main(). A mistake in a pattern is an error at the start.
	op.DriveKinds(kinds.Selector{Group: "[example"}, func(context.Context, watch.Env, deploy.ServedKind) (watch.Reconciler, error) {
		return nil, nil
	})
	fmt.Println("exit code", op.Execute(context.Background(), offline, os.Stdout, os.Stdout))
	// Output:
	// shop-operator: DriveKinds: selector: group "[example": not a pattern of path.Match: syntax error in pattern
	// exit code 1
}

func ExampleOperator_Drive_patches() {
	op := operator.New("gear-operator")
	op.Drive(watch.NewController(gears, func(_ context.Context, env watch.Env) (watch.Reconciler, error) {
		patches := env.Patches()
		gear := &unstructured.Unstructured{Object: map[string]any{"metadata": map[string]any{"name": "one", "namespace": "shop"}}}
		cogs := []*unstructured.Unstructured{{Object: configMap("cog")}}
		// In a reconcile, before the objects are applied:
		cogs, err := patching.Objects(context.Background(), patches, patching.Target{Resource: gear, View: env.Manager.View()}, "cogs", cogs)
		fmt.Println("applying", cogs[0].GetName(), err)
		return nil, errors.New("that is all")
	}))
	op.Execute(context.Background(), offline, os.Stdout, os.Stdout)
	// Output:
	// applying cog <nil>
	// gear-operator: reconciler of Gear: that is all
}
