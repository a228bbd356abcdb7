package engine

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"log/slog"
	"os"
	"os/signal"
	"runtime"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/operkit/operkit/deploy"
	"github.com/operkit/operkit/deploy/cluster"
	"github.com/operkit/operkit/reconcile"
	"github.com/operkit/operkit/reconcile/request"
	"github.com/operkit/operkit/reconcile/watch"
	"github.com/operkit/operkit/tools/envtest"
	"github.com/operkit/operkit/tools/envtest/program"
	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/klog/v2"
)

var (
	lamps      = schema.GroupVersionKind{Group: "engine.operkit.dev", Version: "v1", Kind: "Lamp"}
	configMaps = schema.GroupVersionKind{Version: "v1", Kind: "ConfigMap"}
)

func TestMain(m *testing.M) {
	program.Main(func() {
		klog.SetSlogLogger(slog.New(slog.DiscardHandler)) // as package operator does it
		ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM)
		defer stop()
		if err := operate(ctx, os.Args[1], os.Args[2], slog.New(slog.NewTextHandler(os.Stderr, nil))); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
	})
	os.Exit(m.Run())
}

// operate is an operator: each Lamp has a ConfigMap that says how bright it is, and a status. It tells the heap that it
// uses for each line that it is sent.
func operate(ctx context.Context, kubeconfig, namespace string, logger *slog.Logger) error {
	config, err := cluster.Config(kubeconfig, "")
	if err != nil {
		return err
	}
	background, closeStore := context.WithCancel(context.WithoutCancel(ctx))
	defer closeStore()
	api, err := cluster.New(background, config, cluster.Namespaces(namespace), cluster.Logger(logger))
	if err != nil {
		return err
	}
	engine, err := watch.New(api.View(), watch.Logger(logger))
	if err != nil {
		return err
	}
	manager, err := deploy.NewManager(api, deploy.FieldManager("lamps"))
	if err != nil {
		return err
	}
	reconciler, err := reconcile.New(lamp{}, manager, reconcile.Logger(logger), reconcile.WithWatcher(engine))
	if err != nil {
		return err
	}
	if err := engine.Control(lamps, reconciler); err != nil {
		return err
	}
	go tellHeap(os.Stdin, os.Stdout)
	defer func() { closeStore(); api.Wait() }()
	return engine.Run(ctx)
}

func tellHeap(asked io.Reader, told io.Writer) {
	for lines := bufio.NewScanner(asked); lines.Scan(); {
		runtime.GC()
		runtime.GC()
		var memory runtime.MemStats
		runtime.ReadMemStats(&memory)
		_, _ = fmt.Fprintln(told, memory.HeapAlloc)
	}
}

// lamp is the operator's only controller.
type lamp struct{}

func (lamp) Kind() schema.GroupVersionKind { return lamps }

func (lamp) Setup(_ context.Context, s *reconcile.Session) error {
	light, _, err := unstructured.NestedInt64(s.Resource().Object, "spec", "light")
	if err != nil {
		return request.Configuration("spec.light: %w", err)
	}
	s.Add("light").Add("light", map[string]any{
		"apiVersion": "v1", "kind": "ConfigMap", "metadata": map[string]any{"name": s.Name()}, "data": map[string]any{"light": strconv.FormatInt(light, 10)},
	})
	return nil
}

// process is an operator that runs by itself.
type process struct {
	*program.Process
	t       *testing.T
	ask     io.Writer
	answers *bufio.Scanner
}

func startProcess(t *testing.T, env *envtest.Env) *process {
	t.Helper()
	command := program.Command(env.Kubeconfig(t, env.Self), env.Namespace)
	ask, err := command.StdinPipe()
	require.NoError(t, err)
	answers, err := command.StdoutPipe()
	require.NoError(t, err)
	return &process{Process: program.Start(t, command), t: t, ask: ask, answers: bufio.NewScanner(answers)}
}

// heap is what the operator holds after a garbage collection, in bytes.
func (p *process) heap() int {
	p.t.Helper()
	_, err := fmt.Fprintln(p.ask)
	require.NoError(p.t, err)
	require.True(p.t, p.answers.Scan(), "the operator has ended: %v", p.log(0))
	n, err := strconv.Atoi(p.answers.Text())
	require.NoError(p.t, err)
	return n
}

// log are the lines that it has written since the one of a number.
func (p *process) log(since int) []string {
	lines := strings.Split(p.Output(), "\n")
	return lines[since : len(lines)-1] // the last one isn't whole
}

// resident is its RSS in bytes, processor what it has used of one.
func (p *process) usage() (resident int, processor time.Duration) {
	p.t.Helper()
	of := "/proc/" + strconv.Itoa(p.PID())
	pages, err := os.ReadFile(of + "/statm")
	require.NoError(p.t, err)
	resident, err = strconv.Atoi(strings.Fields(string(pages))[1])
	require.NoError(p.t, err)
	stat, err := os.ReadFile(of + "/stat")
	require.NoError(p.t, err)
	_, rest, found := strings.Cut(string(stat), ") ")
	require.True(p.t, found)
	fields := strings.Fields(rest)
	for _, ticks := range fields[11:13] { // user and system, of which Linux counts a hundred a second
		n, err := strconv.Atoi(ticks)
		require.NoError(p.t, err)
		processor += time.Duration(n) * 10 * time.Millisecond
	}
	return resident * os.Getpagesize(), processor
}
