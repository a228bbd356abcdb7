package explore

import (
	"bufio"
	"context"
	"encoding/json"
	"io"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"

	"github.com/operkit/operkit/deploy"
	"github.com/operkit/operkit/deploy/cluster"
	"github.com/operkit/operkit/reconcile/reconciletest"
	"github.com/operkit/operkit/tools/envtest"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// TestOnAPIServer reproduces findings: the process of the operator is killed by SIGKILL at the write of the finding.
func TestOnAPIServer(t *testing.T) {
	t.Parallel()
	for _, fault := range []string{
		"explore 2: a second child after a crash", "explore 2: a disk stays small after a crash", "explore 2: a crash leaves a disk",
		"explore 2: a second object after a crash", "explore 57: a deletion in an outage is lost",
	} {
		t.Run("explore 17: "+fault, func(t *testing.T) {
			t.Parallel()
			f, killed := findingWithKill(t, fault)
			undisturbed, _ := liveOn(t, fault, f, armed{})
			disturbed, died := liveOn(t, fault, f, killed)
			assert.True(t, died, "the process was killed")
			t.Logf("%s\non an API server:\n  %s", f.story(), strings.Join(texts(compare(undisturbed, disturbed)), "\n  "))
			assert.Subset(t, texts(compare(undisturbed, disturbed)), f.details)
		})
	}
}

// findingWithKill explores an operator of the table in memory, and returns the first finding with a kill.
func findingWithKill(t *testing.T, fault string) (*finding, armed) {
	t.Helper()
	r := operatorCalled(fault).explore(t, false, Findings(9), until([]string{"the operator is killed", "another state"}))
	for _, f := range r.findings {
		for _, a := range f.disturbances {
			if a.act == killAfter || a.act == killBefore || a.act == outage {
				return f, a
			}
		}
	}
	require.Fail(t, "no finding with a kill", stories(r))
	return nil, armed{}
}

// liveOn lives the life of a finding on an API server, with the operator in processes of its own. It returns the state
// after the chapter of the finding, and whether a process was killed.
func liveOn(t *testing.T, fault string, f *finding, killed armed) (end state, died bool) {
	t.Helper()
	env := envtest.Start(t, envtest.CRDs("testdata/faults/crd"))
	c, err := cluster.New(t.Context(), env.Config, cluster.Namespaces(env.Namespace))
	require.NoError(t, err)
	user := reconciletest.Drive(t, manually(func(context.Context, *manual, *unstructured.Unstructured) error { return nil })(),
		reconciletest.On(c, quiet), reconciletest.Namespace(env.Namespace))
	o := order{
		Fault: fault, Namespace: env.Namespace, Host: env.Config.Host, TLS: env.Config.TLSClientConfig, Impersonate: env.Config.Impersonate,
		Step: killed.chapter, Write: killed.write, After: killed.act != killBefore,
	}
	p := startProcess(t, o)
	begun := 0
	begin := func() {
		require.NoError(t, f.life.chapters[begun].begin(user))
		begun++
	}
	for n := range f.chapter + 1 {
		if begun == n {
			begin()
		}
		if !p.settle() {
			died = true
			require.Equal(t, killed.chapter, n+1, "killed in its chapter")
			if killed.act == outage {
				begin()
			}
			p = startProcess(t, order{Fault: o.Fault, Namespace: o.Namespace, Host: o.Host, TLS: o.TLS, Impersonate: o.Impersonate})
			require.True(t, p.settle())
		}
	}
	p.end()
	return stateOf(objectsIn(t, c, env.Namespace)), died
}

// objectsIn returns the objects of a namespace, as in the namespace of a harness.
func objectsIn(t *testing.T, c deploy.Cluster, namespace string) (all []*unstructured.Unstructured) {
	t.Helper()
	for _, kind := range []schema.GroupVersionKind{shopKind, {Version: "v1", Kind: "ConfigMap"}} {
		objects, err := c.Port().List(t.Context(), kind, namespace, deploy.ListOptions{})
		require.NoError(t, err)
		for _, obj := range objects {
			if obj.GetName() != "kube-root-ca.crt" {
				obj = obj.DeepCopy()
				obj.SetNamespace("test")
				all = append(all, obj)
			}
		}
	}
	return all
}

// process is an operator in a process of its own.
type process struct {
	t      *testing.T
	cmd    *exec.Cmd
	steps  io.WriteCloser
	answer *bufio.Reader
}

func startProcess(t *testing.T, o order) *process {
	t.Helper()
	text, err := json.Marshal(o)
	require.NoError(t, err)
	p := &process{t: t, cmd: exec.CommandContext(t.Context(), os.Args[0])}
	p.cmd.Env = append(os.Environ(), processOf+"="+string(text))
	p.cmd.Stderr = os.Stderr
	p.steps, err = p.cmd.StdinPipe()
	require.NoError(t, err)
	out, err := p.cmd.StdoutPipe()
	require.NoError(t, err)
	p.answer = bufio.NewReader(out)
	require.NoError(t, p.cmd.Start())
	return p
}

// settle lets the operator work until it has nothing left to do. It returns false if the process was killed.
func (p *process) settle() bool {
	p.t.Helper()
	_, err := io.WriteString(p.steps, "settle\n")
	require.NoError(p.t, err)
	line, err := p.answer.ReadString('\n')
	if err == nil {
		require.Equal(p.t, "settled\n", line)
		return true
	}
	status, is := p.wait().Sys().(syscall.WaitStatus)
	require.True(p.t, is)
	require.Equal(p.t, syscall.SIGKILL, status.Signal())
	return false
}

// end ends the process.
func (p *process) end() {
	p.t.Helper()
	require.NoError(p.t, p.steps.Close())
	require.True(p.t, p.wait().Success())
}

func (p *process) wait() *os.ProcessState {
	_ = p.cmd.Wait() // the state says how it ended
	return p.cmd.ProcessState
}
