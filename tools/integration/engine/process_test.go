package engine

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"os/exec"
	"os/signal"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/klog/v2"

	"github.com/operkit/operkit/deploy"
	"github.com/operkit/operkit/deploy/cluster"
	"github.com/operkit/operkit/reconcile"
	"github.com/operkit/operkit/reconcile/watch"
	"github.com/operkit/operkit/tools/envtest"
)

// These make a process of this package the operator.
const (
	kubeconfigVariable = "OPERKIT_TEST_ENGINE_KUBECONFIG"
	namespaceVariable  = "OPERKIT_TEST_ENGINE_NAMESPACE"
)

var (
	lamps      = schema.GroupVersionKind{Group: "engine.operkit.dev", Version: "v1", Kind: "Lamp"}
	configMaps = schema.GroupVersionKind{Version: "v1", Kind: "ConfigMap"}
)

func TestMain(m *testing.M) {
	if os.Getenv(kubeconfigVariable) == "" {
		os.Exit(m.Run())
	}
	klog.SetSlogLogger(slog.New(slog.DiscardHandler)) // as package operator does it
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM)
	defer stop()
	if err := operate(ctx, slog.New(slog.NewTextHandler(os.Stderr, nil))); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// operate is an operator: each Lamp has a ConfigMap that says how bright it is, and a status. It tells the heap that it
// uses for each line that it is sent.
func operate(ctx context.Context, logger *slog.Logger) error {
	config, err := cluster.Config(os.Getenv(kubeconfigVariable), "")
	if err != nil {
		return err
	}
	background, closeStore := context.WithCancel(context.WithoutCancel(ctx))
	defer closeStore()
	api, err := cluster.New(background, config, cluster.Namespaces(os.Getenv(namespaceVariable)), cluster.Logger(logger))
	if err != nil {
		return err
	}
	engine, err := watch.New(api.View(), watch.Logger(logger))
	if err != nil {
		return err
	}
	reconciler, err := reconcile.New(lamp{}, deploy.NewManager(api, deploy.FieldManager("lamps")), reconcile.Logger(logger), reconcile.WithWatcher(engine))
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
		return reconcile.Configuration("spec.light: %w", err)
	}
	s.Add("light").Add("light", map[string]any{
		"apiVersion": "v1", "kind": "ConfigMap", "metadata": map[string]any{"name": s.Name()}, "data": map[string]any{"light": strconv.FormatInt(light, 10)},
	})
	return nil
}

// process is an operator that runs by itself.
type process struct {
	t       *testing.T
	command *exec.Cmd
	ask     io.Writer
	answers *bufio.Scanner
	ended   chan struct{}

	mu   sync.Mutex
	said []string
}

func startProcess(t *testing.T, env *envtest.Env) *process {
	t.Helper()
	command := exec.CommandContext(t.Context(), os.Args[0])
	command.Env = append(os.Environ(), kubeconfigVariable+"="+env.Kubeconfig(t, env.Self), namespaceVariable+"="+env.Namespace)
	ask, err := command.StdinPipe()
	require.NoError(t, err)
	answers, err := command.StdoutPipe()
	require.NoError(t, err)
	said, err := command.StderrPipe()
	require.NoError(t, err)
	require.NoError(t, command.Start())
	p := &process{t: t, command: command, ask: ask, answers: bufio.NewScanner(answers), ended: make(chan struct{})}
	go func() {
		defer close(p.ended)
		for lines := bufio.NewScanner(said); lines.Scan(); {
			p.mu.Lock()
			p.said = append(p.said, lines.Text())
			p.mu.Unlock()
		}
	}()
	t.Cleanup(func() {
		_ = command.Process.Kill()
		<-p.ended
		_ = command.Wait()
	})
	return p
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
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.said[since:]
}

// resident is its RSS in bytes, processor what it has used of one.
func (p *process) usage() (resident int, processor time.Duration) {
	p.t.Helper()
	of := "/proc/" + strconv.Itoa(p.command.Process.Pid)
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

// end ends it in good order.
func (p *process) end() error {
	if err := p.command.Process.Signal(syscall.SIGTERM); err != nil {
		return fmt.Errorf("the operator had ended: %w", err)
	}
	select {
	case <-p.ended:
		return p.command.Wait()
	case <-time.After(patience):
		return errors.New("the operator doesn't end")
	}
}
