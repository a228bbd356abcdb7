package operator_test

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/operkit/operkit/tools/envtest"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// binary runs a command of the operator of gadgets as a process of its own, with nothing of this process's settings.
func binary(t *testing.T, args ...string) (code int, stdout, stderr string) {
	t.Helper()
	command := exec.Command(os.Args[0], args...)
	command.Env = []string{asOperator + "=1", "HOME=" + t.TempDir(), "PATH=" + os.Getenv("PATH")}
	var out, log bytes.Buffer
	command.Stdout, command.Stderr = &out, &log
	err := command.Run()
	var exit *exec.ExitError
	if err != nil {
		require.True(t, errors.As(err, &exit), "%v", err)
		code = exit.ExitCode()
	}
	return code, out.String(), log.String()
}

// asking are the commands that ask a cluster, about the gadget one.
var asking = [][]string{{"status", "one"}, {"graph", "one"}, {"diff", "one"}, {"reconcile", "one"}, {"trigger", "one"}, {"pause", "one"}, {"resume", "one"}}

func TestCommandsWithoutACluster(t *testing.T) {
	t.Parallel()
	good := filepath.Join("testdata", "good.kubeconfig")
	for _, row := range []struct {
		reason string
		flags  []string
		want   string
	}{
		{"nothing says where one is", nil, "no cluster: "},
		{"a file that isn't there", []string{"--kubeconfig", "/nowhere/config"}, "kubeconfig /nowhere/config: stat /nowhere/config: no such file"},
		{"a context that isn't there", []string{"--kubeconfig", good, "--context", "moon"}, `context "moon" does not exist`},
		{"one that doesn't answer", []string{"--kubeconfig", good}, "choose another with --context or --kubeconfig"},
	} {
		for _, args := range asking {
			t.Run(row.reason+": "+args[0], func(t *testing.T) {
				t.Parallel()
				code, out, log := binary(t, append(args, row.flags...)...)
				want := 1
				if args[0] == "diff" {
					want = 2 // 1 is that something differs
				}
				assert.Equal(t, want, code, log)
				assert.Empty(t, out)
				assert.Contains(t, log, row.want)
				assert.Len(t, strings.Split(strings.TrimSpace(log), "\n"), 1, "one line: %s", log)
			})
		}
	}
}

func TestCommandsAgainstABadCluster(t *testing.T) {
	t.Parallel()
	w := newWorld(t, envtest.OwnCluster())
	admin := w.User(t, "admin", envtest.InNamespace(own, creating))
	refused := func(reason, kubeconfig, want string, of [][]string) {
		for _, args := range of {
			t.Run(reason+": "+args[0], func(t *testing.T) {
				code, out, log := binary(t, append(args, "-n", w.Namespace, "--kubeconfig", kubeconfig)...)
				assert.NotZero(t, code)
				assert.Empty(t, out)
				assert.Contains(t, log, want)
				assert.NotContains(t, log, "goroutine")
			})
		}
	}
	refused("the definition is missing", w.Kubeconfig(t, admin), "apply its CustomResourceDefinition", asking)
	w.InstallCRDs(t, definitions)
	refused("the resource isn't there", w.Kubeconfig(t, admin), "Gadget "+w.Namespace+"/one: not found", asking)
	w.resource(gadgets, "one")
	nobody := w.User(t, "nobody")
	refused("no rights", w.Kubeconfig(t, nobody), "not allowed to get gadgets", asking)
}

func TestManyDocumentsOneBad(t *testing.T) {
	t.Parallel()
	var documents []string
	for i := range 200 {
		documents = append(documents, fmt.Sprintf("apiVersion: operator.operkit.dev/v1\nkind: Gadget\nmetadata: {name: g%d, namespace: shop}\n", i))
	}
	documents[122] = "apiVersion: operator.operkit.dev/v1\nkind: Gadget\nmetadata: {nam: oops}\n"
	path := file(t, strings.Join(documents, "---\n"))
	for _, args := range [][]string{{"run", "--dry-run", "--cr", path}, {"render", "-f", path}} {
		code, out, log := binary(t, args...)
		assert.Equal(t, 2, code, "operator 6, mistake 11: it is a mistake in the file")
		assert.Empty(t, out, "nothing of what could be taken for all of it")
		assert.Contains(t, log, path+": document 123: Gadget: metadata.name is missing")
	}
	documents[122] = strings.ReplaceAll(documents[121], "g121", "g122")
	path = file(t, strings.Join(documents, "---\n"))
	code, out, log := binary(t, "run", "--dry-run", "--cr", path)
	assert.Zero(t, code, log)
	assert.Equal(t, 200, strings.Count(out, "kind: ConfigMap\n"))
}
