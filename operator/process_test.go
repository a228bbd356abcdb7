package operator_test

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/operkit/operkit/deploy"
	"github.com/operkit/operkit/operator"
	"github.com/operkit/operkit/operator/config"
	"github.com/operkit/operkit/reconcile"
	"github.com/operkit/operkit/reconcile/tlssecret"
	"github.com/operkit/operkit/tools/envtest"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

const (
	// asOperator makes the test binary an operator of gadgets: a test starts and ends it as a process of its own.
	asOperator = "OPERATOR_TEST_AS_OPERATOR"
	// inPod is the file in which it finds the namespace of its Pod.
	inPod = "OPERATOR_TEST_IN_POD"
	// withStartup gives it a startup and probes.
	withStartup = "OPERATOR_TEST_WITH_STARTUP"
	// afterOper8 has it take the place of an operator written with oper8.
	afterOper8 = "OPERATOR_TEST_AFTER_OPER8"
	// ofCrates makes it an operator of Crates instead.
	ofCrates = "OPERATOR_TEST_OF_CRATES"
)

func operate() {
	// These Pods share one network: each port is there once.
	nowhere := operator.Defaults(func(c *config.Config) { c.Health.Address, c.Metrics.Address = config.NoAddress, config.NoAddress })
	options := []operator.Option{operator.NamespaceFile(os.Getenv(inPod)), nowhere}
	if os.Getenv(afterOper8) != "" {
		options = append(options, operator.Oper8Environment(), operator.Manager(deploy.KeyDomain("oper8.org")))
	}
	if os.Getenv(withStartup) != "" {
		options = append(options, ledger()...)
	}
	if os.Getenv(ofCrates) != "" {
		crateOperator(append(options, operator.CertificateLife(tlssecret.Life{Wait: 500 * time.Millisecond}))...).Main()
	}
	op := operator.New("gadget-operator", options...)
	op.Control(moody{settings{gadgets}})
	op.Main()
}

// ledger is a startup that takes its time, with a probe of what it opens, and another probe.
func ledger() []operator.Option {
	var opened atomic.Bool
	return []operator.Option{
		operator.Startup("ledger", func(ctx context.Context, p operator.Process) (func(context.Context) error, error) {
			p.Logger.Info("the ledger opens")
			for !isThere(os.Getenv(gate)) {
				time.Sleep(10 * time.Millisecond)
			}
			opened.Store(true)
			return func(context.Context) error {
				p.Logger.Info("the ledger is closed", "cause", context.Cause(ctx))
				return nil
			}, nil
		}),
		operator.Ready("ledger", func(context.Context) (any, error) {
			if opened.Load() {
				return "open", nil
			}
			return nil, errors.New("closed")
		}),
		operator.Alive("mood", func(context.Context) (any, error) { return 7, nil }),
	}
}

// moody is like settings, but for what the spec of a gadget asks for.
type moody struct{ settings }

func (m moody) Setup(ctx context.Context, s *reconcile.Session) error {
	var gadget struct {
		Spec struct {
			Of string `json:"of"`
		} `json:"spec"`
	}
	if err := s.Into(&gadget); err != nil {
		return err
	}
	switch gadget.Spec.Of {
	case "patience":
		s.Logger().Info("waits for its end")
		<-ctx.Done()
		s.Logger().Info("sees its end", "cause", context.Cause(ctx))
		return ctx.Err()
	case "time":
		s.Logger().Info("takes its time")
		for !isThere(os.Getenv(gate)) {
			time.Sleep(10 * time.Millisecond)
		}
	case "stubbornness":
		s.Logger().Info("never ends")
		select {}
	}
	return m.settings.Setup(ctx, s)
}

// gate names the file whose coming lets those go on that take their time.
const gate = "OPERATOR_TEST_GATE"

func isThere(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}

// process is an operator of gadgets as a process of its own.
type process struct {
	command *exec.Cmd
	user    *envtest.User
	gate    string
	log     buffer
	done    chan struct{}
}

// process starts an operator in a Pod of the world's namespace, until the test ends or it does.
func (w *world) process(user *envtest.User, flags ...string) *process {
	w.t.Helper()
	return w.processIn(nil, user, flags...)
}

// processIn starts it with more in its environment.
func (w *world) processIn(environ []string, user *envtest.User, flags ...string) *process {
	w.t.Helper()
	args := append([]string{"run", "--namespace", w.Namespace, "--kubeconfig", w.Kubeconfig(w.t, user)}, flags...)
	p := &process{command: exec.Command(os.Args[0], args...), user: user, gate: filepath.Join(w.t.TempDir(), "gate"), done: make(chan struct{})}
	namespace := file(w.t, w.Namespace)
	p.command.Env = append(os.Environ(), asOperator+"=1", inPod+"="+namespace, "POD_NAME=operator-"+user.Name[strings.LastIndex(user.Name, ":")+1:], gate+"="+p.gate)
	p.command.Env = append(p.command.Env, environ...)
	p.command.Stderr = &p.log
	require.NoError(w.t, p.command.Start())
	go func() {
		defer close(p.done)
		_ = p.command.Wait()
	}()
	w.t.Cleanup(func() {
		_ = p.command.Process.Kill()
		<-p.done
		if w.t.Failed() {
			w.t.Logf("%s said:\n%s", user.Name, p.log.String())
		}
	})
	return p
}

func (p *process) send(t *testing.T, s syscall.Signal) {
	t.Helper()
	require.NoError(t, p.command.Process.Signal(s))
}

// letGo ends the time that reconciles take.
func (p *process) letGo(t *testing.T) {
	t.Helper()
	require.NoError(t, os.WriteFile(p.gate, nil, 0o600))
}

func (p *process) says(text string) func() bool {
	return func() bool { return len(p.log.lines(text)) > 0 }
}

// end waits until the process has ended, and says how and after what time.
func (p *process) end(t *testing.T) (*os.ProcessState, time.Duration) {
	t.Helper()
	start := time.Now()
	select {
	case <-p.done:
	case <-time.After(patience):
		require.Fail(t, "the operator doesn't end", p.log.String())
	}
	return p.command.ProcessState, time.Since(start)
}

func (p *process) ended() bool {
	select {
	case <-p.done:
		return true
	default:
		return false
	}
}

func TestKubectlPlugin(t *testing.T) {
	t.Parallel()
	program := filepath.Join(t.TempDir(), "kubectl-gadget_shop")
	self, err := os.Executable()
	require.NoError(t, err)
	require.NoError(t, os.Symlink(self, program))
	run := func(args ...string) string {
		command := exec.Command(program, args...)
		command.Env = append(os.Environ(), asOperator+"=1")
		out, _ := command.CombinedOutput()
		return string(out)
	}
	assert.Contains(t, run("--help"), "kubectl gadget-shop [command]")
	assert.Contains(t, run("status", "--help"), "  kubectl gadget-shop status hello\n")
	assert.Equal(t, "kubectl gadget-shop: unknown command \"stats\": did you mean status?\n", run("stats"))
	assert.Contains(t, run("version"), "gadget-operator", "the name of the operator stays")
}
