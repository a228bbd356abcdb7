package leader

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"os/exec"
	"os/signal"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/client-go/rest"

	"github.com/operkit/operkit/deploy"
	"github.com/operkit/operkit/deploy/cluster"
	"github.com/operkit/operkit/reconcile/leader"
	"github.com/operkit/operkit/tools/envtest"
)

// The environment of a process of this test binary that is a replica of the operator.
const (
	lockVariable       = "LEADER_TEST_LOCK"
	kubeconfigVariable = "LEADER_TEST_KUBECONFIG"
	durationVariable   = "LEADER_TEST_DURATION"
	// workVariable is what the replica does; nothing means writing.
	workVariable = "LEADER_TEST_WORK"
)

// What a replica does.
const (
	writing   = ""
	operating = "operate"
	sharing   = "share"
)

// TestMain makes the process a replica when the environment says so.
func TestMain(m *testing.M) {
	if os.Getenv(lockVariable) == "" {
		os.Exit(m.Run())
	}
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM)
	defer stop()
	do := map[string]func(context.Context, *rest.Config, *slog.Logger) error{writing: standAndWrite, operating: standAndOperate, sharing: share}
	config, err := cluster.Config(os.Getenv(kubeconfigVariable), "")
	if err == nil {
		err = do[os.Getenv(workVariable)](ctx, config, slog.New(slog.NewTextHandler(os.Stderr, nil)))
	}
	if err != nil {
		fmt.Println("error", err)
		os.Exit(1)
	}
	fmt.Println("end")
}

// namespace is that of the lock, and of the work.
func namespace() string {
	namespace, _, _ := strings.Cut(os.Getenv(lockVariable), "/")
	return namespace
}

// newLock stands for the Lease, with a client of its own. The work's client is config afterwards.
func newLock(ctx context.Context, config *rest.Config, logger *slog.Logger) (*leader.Elector, error) {
	own, err := cluster.New(context.WithoutCancel(ctx), config, cluster.Logger(logger))
	if err != nil {
		return nil, err
	}
	lock, err := leader.Lease(own.Port(), os.Getenv(lockVariable), append(times(), leader.Logger(logger))...)
	if err != nil {
		return nil, err
	}
	config.Wrap(lock.Transport)
	fmt.Println("started", lock.Identity())
	return lock, nil
}

// standAndWrite is an operator that writes one ConfigMap after the other while it leads.
func standAndWrite(ctx context.Context, config *rest.Config, logger *slog.Logger) error {
	lock, err := newLock(ctx, config, logger)
	if err != nil {
		return err
	}
	guarded, err := cluster.New(context.WithoutCancel(ctx), config, cluster.Logger(logger))
	if err != nil {
		return err
	}
	return lock.Run(ctx, func(ctx context.Context) error { return write(ctx, guarded.Port(), namespace()) })
}

// times are shorter than those that an operator has by default, if the test says so.
func times() []leader.Option {
	duration, err := time.ParseDuration(os.Getenv(durationVariable))
	if err != nil {
		return nil
	}
	return []leader.Option{leader.Timing(duration, 0, 0)}
}

// write ends with ctx. It goes on when a call fails, as reconciles do.
func write(ctx context.Context, port deploy.Port, namespace string) error {
	term, _ := leader.TermOf(ctx)
	fmt.Println("leads", term.Number)
	for ctx.Err() == nil {
		obj := &unstructured.Unstructured{Object: map[string]any{
			"apiVersion": "v1", "kind": "ConfigMap",
			"metadata": map[string]any{"generateName": "written-", "namespace": namespace},
			"data":     map[string]any{"holder": term.Holder, "term": strconv.FormatInt(term.Number, 10)},
		}}
		// Not under ctx: what has to stop the call at the renew deadline is the transport.
		_, err := port.Create(context.WithoutCancel(ctx), obj, deploy.CreateOptions{FieldManager: "operator"})
		if err != nil && !errors.Is(err, leader.ErrNotLeading) {
			fmt.Println("failed", err)
			time.Sleep(50 * time.Millisecond)
		}
	}
	if cause := context.Cause(ctx); errors.Is(cause, leader.ErrLost) {
		return cause
	}
	return nil
}

// process is a replica in a process of its own.
type process struct {
	command *exec.Cmd
	// identity is what it calls itself, once it is started.
	identity string
	// leads has when this replica began to, ended how it ended.
	leads chan time.Time
	ended chan string
}

// startProcess starts a replica that writes. duration is that of its Lease, zero the default.
func startProcess(t *testing.T, env *envtest.Env, duration time.Duration) *process {
	t.Helper()
	return startWork(t, env, duration, writing)
}

func startWork(t *testing.T, env *envtest.Env, duration time.Duration, work string) *process {
	t.Helper()
	command := exec.CommandContext(t.Context(), os.Args[0])
	command.Env = append(os.Environ(), lockVariable+"="+env.Namespace+"/operator", kubeconfigVariable+"="+env.Kubeconfig(t, env.Self), workVariable+"="+work,
		"GORACE=atexit_sleep_ms=0") // else the race detector has each take a second to end
	if duration > 0 {
		command.Env = append(command.Env, durationVariable+"="+duration.String())
	}
	command.Stderr = t.Output()
	output, err := command.StdoutPipe()
	require.NoError(t, err)
	require.NoError(t, command.Start())
	p := &process{command: command, leads: make(chan time.Time, 100), ended: make(chan string, 1)}
	started := make(chan struct{})
	go p.read(bufio.NewScanner(output), started)
	t.Cleanup(func() {
		_ = command.Process.Kill()
		<-p.ended
	})
	select {
	case <-started:
	case <-time.After(patience):
		require.Fail(t, "a replica doesn't start")
	}
	return p
}

// read takes what the replica prints, until it ends.
func (p *process) read(lines *bufio.Scanner, started chan<- struct{}) {
	last := "killed"
	for lines.Scan() {
		word, rest, _ := strings.Cut(lines.Text(), " ")
		switch word {
		case "started":
			p.identity = rest
			close(started)
		case "leads":
			p.leads <- time.Now()
		case "end", "error":
			last = lines.Text()
		}
	}
	_ = p.command.Wait()
	p.ended <- last
	close(p.ended)
}

func (p *process) send(t *testing.T, s syscall.Signal) {
	t.Helper()
	require.NoError(t, p.command.Process.Signal(s))
}

// awaitEnd returns how the process ended.
func (p *process) awaitEnd(t *testing.T) string {
	t.Helper()
	select {
	case how := <-p.ended:
		return how
	case <-time.After(patience):
		require.Fail(t, "a replica doesn't end")
		return ""
	}
}

// awaitLeader returns which of the replicas leads next, and when it began to.
func awaitLeader(t *testing.T, replicas ...*process) (*process, time.Time) {
	t.Helper()
	end := time.After(patience)
	for {
		for _, p := range replicas {
			select {
			case at := <-p.leads:
				return p, at
			case <-end:
				require.Fail(t, "no replica leads")
			default:
			}
		}
		time.Sleep(time.Millisecond)
	}
}
