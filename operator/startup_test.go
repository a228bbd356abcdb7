package operator_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net/http"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/operkit/operkit/operator"
	"github.com/operkit/operkit/operator/config"
	"github.com/operkit/operkit/tools/envtest"
	"github.com/stretchr/testify/assert"
	"k8s.io/client-go/rest"
)

var errSignal = errors.New("a signal")

// startups has the command run call startups, until one of them ends its context.
type startups struct {
	lines []string
	stop  func(error)
}

func (s *startups) write(format string, args ...any) {
	s.lines = append(s.lines, fmt.Sprintf(format, args...))
}

// named is a startup that succeeds, and stops the operator if it is the last one.
func (s *startups) named(name string, last bool) operator.Option {
	return operator.Startup(name, func(living context.Context, p operator.Process) (func(context.Context) error, error) {
		s.write("start %s of %s, alive: %t", name, p.Operator, living.Err() == nil)
		if last {
			s.stop(errSignal)
		}
		return func(ctx context.Context) error {
			_, bounded := ctx.Deadline()
			s.write("clean %s: %v, bounded: %t, alive: %t", name, context.Cause(living), bounded, ctx.Err() == nil)
			return errors.New(name + " leaks")
		}, nil
	})
}

// with is a startup that ends as end does.
func with(name string, end func(ctx context.Context) error) operator.Option {
	return operator.Startup(name, func(ctx context.Context, _ operator.Process) (func(context.Context) error, error) {
		return nil, end(ctx)
	})
}

// run runs an operator with these options, and returns its exit code and its log.
func (s *startups) run(t *testing.T, command string, options ...operator.Option) (code int, log string) {
	t.Helper()
	ctx, stop := context.WithCancelCause(t.Context())
	defer stop(nil)
	s.stop = stop
	op := operator.New("widget-operator", options...)
	op.Control(widget{})
	var out, text bytes.Buffer
	args := []string{command, "--kubeconfig", filepath.Join("testdata", "good.kubeconfig"), "--leader-election.lock", "none"}
	if command == "render" {
		args = append(args, "-f", filepath.Join("testdata", "widget.yaml"))
	}
	code = op.Execute(ctx, args, &out, &text)
	return code, text.String()
}

func TestStartup(t *testing.T) {
	t.Parallel()
	t.Run("startup 1, 2, 3: in order, and cleaned up in reverse order at the end", func(t *testing.T) {
		t.Parallel()
		s := &startups{}
		code, log := s.run(t, "run", s.named("a", false), s.named("b", true))
		assert.Zero(t, code, log)
		assert.Equal(t, []string{
			"start a of widget-operator, alive: true", "start b of widget-operator, alive: true",
			"clean b: a signal, bounded: true, alive: true", "clean a: a signal, bounded: true, alive: true",
		}, s.lines)
		assert.Contains(t, log, `msg="a cleanup failed" startup=a error="a leaks"`, "which changes nothing else")
	})
	t.Run("startup 1, 2, 3: an error refuses the start, and what has started is cleaned up", func(t *testing.T) {
		t.Parallel()
		s := &startups{}
		code, log := s.run(t, "run", s.named("a", false), with("b", func(context.Context) error { return errors.New("no room") }), s.named("c", true))
		assert.Equal(t, 1, code)
		assert.True(t, strings.HasSuffix(log, "\nwidget-operator: startup b: no room\n"), log)
		assert.Equal(t, []string{"start a of widget-operator, alive: true", "clean a: startup b: no room, bounded: true, alive: true"}, s.lines)
		assert.NotContains(t, log, "msg=starting", "nothing else was started")
	})
	t.Run("startup 1: a panic is an error", func(t *testing.T) {
		t.Parallel()
		s := &startups{}
		code, log := s.run(t, "run", s.named("a", false), with("b", func(context.Context) error { panic("no cheese") }))
		assert.Equal(t, 1, code)
		assert.Regexp(t, `\nwidget-operator: startup b: panic: no cheese \(startup_test\.go:\d+\)\n`, log)
		assert.Contains(t, log, "startup_test.go", "the stack is in the log")
		assert.Len(t, s.lines, 2)
	})
	t.Run("startup 3: a signal while one runs", func(t *testing.T) {
		t.Parallel()
		s := &startups{}
		code, log := s.run(t, "run", s.named("a", false), with("b", func(ctx context.Context) error {
			s.stop(errSignal)
			<-ctx.Done()
			return context.Cause(ctx)
		}))
		assert.Zero(t, code, "an end in good order: %s", log)
		assert.Contains(t, log, `msg="stopped while it started" operator=widget-operator error="startup b: a signal"`)
		assert.Equal(t, "clean a: a signal, bounded: true, alive: true", s.lines[1])
	})
	t.Run("a failure later in the start", func(t *testing.T) {
		t.Parallel()
		s := &startups{}
		taken := operator.Defaults(func(c *config.Config) { c.Manifests.Directory = filepath.Join("testdata", "good.kubeconfig") })
		code, _ := s.run(t, "run", s.named("a", false), taken)
		assert.Equal(t, 1, code)
		assert.Regexp(t, "^clean a: manifests.directory: .*not a directory", s.lines[1])
	})
	t.Run("other commands have none", func(t *testing.T) {
		t.Parallel()
		s := &startups{}
		code, log := s.run(t, "render", s.named("a", false))
		assert.Zero(t, code, log)
		assert.Empty(t, s.lines)
	})
	for want, option := range map[string]operator.Option{
		"a startup has no name: pass a name to Startup":                    operator.Startup("", nil),
		"startup a: nil function: pass a function to Startup":              operator.Startup("a", nil),
		"a probe has no name: pass a name to Alive and Ready":              operator.Alive("", nil),
		"probe a: nil function: pass a function to Alive and Ready":        operator.Ready("a", nil),
		"login: nil function: pass a function to Login":                    operator.Login(nil),
		"login: the function returned nil: return a rest.Config or an err": operator.Login(func(context.Context, config.Config) (*rest.Config, error) { return nil, nil }),
		"login: panic: no key":                                             operator.Login(func(context.Context, config.Config) (*rest.Config, error) { panic("no key") }),
	} {
		t.Run(want, func(t *testing.T) {
			t.Parallel()
			s := &startups{}
			code, log := s.run(t, "run", option)
			assert.Equal(t, 1, code)
			assert.Contains(t, log, "widget-operator: "+want)
		})
	}
}

// TestStartupOfAProcess has a startup, a cleanup and probes in a process of its own.
func TestStartupOfAProcess(t *testing.T) {
	t.Parallel()
	w := newWorld(t, envtest.CRDs(definitions))
	begin := func(name string) *process {
		return w.processIn([]string{withStartup + "=1"}, w.replica(name, leading(t)...), append([]string{"--health.address", "127.0.0.1:0"}, brief...)...)
	}
	t.Run("startup 1, 2, 3: it starts before everything else, a signal ends everything else, and it is cleaned up last", func(t *testing.T) {
		p := begin("first")
		w.eventually("it starts", p.says("the ledger opens"))
		code, text := ask(t, p.address("health.address"), "/readyz")
		assert.Equal(t, http.StatusServiceUnavailable, code)
		assert.Equal(t, "the operator is starting: startup ledger\nledger: closed\n", text)
		code, text = ask(t, p.address("health.address"), "/healthz")
		assert.Equal(t, http.StatusOK, code, "it isn't restarted meanwhile")
		assert.Equal(t, "ok\nmood: 7\n", text)
		assert.Empty(t, w.Calls(t, p.user), "nothing was asked of the cluster")
		p.letGo(t)
		w.eventually("it leads", p.says(leads))
		w.gadget("one", "nothing")
		w.eventually("it works", func() bool { return w.mode("one") == "old" })
		w.eventually("it is ready", func() bool {
			code, text = ask(t, p.address("health.address"), "/readyz")
			return code == http.StatusOK && text == "ok\nledger: open\n"
		})
		p.send(t, syscall.SIGTERM)
		state, _ := p.end(t)
		assert.True(t, state.Success())
		assert.Contains(t, p.log.lines("the ledger is closed")[0], `cause="terminated signal received"`)
		log := p.log.String()
		assert.Less(t, strings.Index(log, "the leadership was released"), strings.Index(log, "the ledger is closed"))
	})
	t.Run("startup 3: the loss of the leadership is the cause of the end", func(t *testing.T) {
		p := begin("second")
		p.letGo(t)
		w.eventually("it leads", p.says(leads))
		w.steal("thief")
		state, _ := p.end(t)
		assert.Equal(t, 1, state.ExitCode())
		assert.Contains(t, p.log.lines("the ledger is closed")[0], "leadership lost: thief leads")
	})
}

// TestLogin has the operator take its connection from a function.
func TestLogin(t *testing.T) {
	t.Parallel()
	w := newWorld(t, envtest.CRDs(definitions))
	user := w.replica("operator")
	given := rest.CopyConfig(user.Config)
	op := operator.New("gadget-operator", operator.WithoutTemporaryPatches(), operator.Login(func(_ context.Context, c config.Config) (*rest.Config, error) {
		assert.InEpsilon(t, 77, c.KubeAPI.QPS, 0.1, "it knows the settings")
		return given, nil
	}))
	op.Control(settings{gadgets})
	before := rest.CopyConfig(given)
	ctx, stop := context.WithCancel(t.Context())
	ended := make(chan int)
	log := &buffer{}
	go func() {
		ended <- op.Execute(ctx, []string{"run", "--namespace", w.Namespace, "--kube-api.qps", "77"}, log, log)
	}()
	w.resource(gadgets, "one")
	w.eventually("it works", func() bool { return w.mode("one") == "old" })
	stop()
	assert.Zero(t, <-ended, log.String())
	assert.Equal(t, before.QPS, given.QPS, "what is given isn't changed")
	assert.NotEmpty(t, w.Calls(t, user).Writes())
}
