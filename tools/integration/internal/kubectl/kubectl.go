package kubectl

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os/exec"
	"strings"
	"testing"

	"github.com/operkit/operkit/tools/envtest"
	"github.com/operkit/operkit/tools/envtest/devcluster"
)

// Kubectl runs kubectl as the administrator, in the namespace of one test. It may be used by several goroutines.
type Kubectl struct {
	binary, dir, namespace string
}

// For returns the kubectl for a test's control plane. It fails the test if there is no kubectl.
func For(t testing.TB, env *envtest.Env) Kubectl {
	t.Helper()
	binary, err := devcluster.Binary(t.Context(), nil)
	if err != nil {
		t.Fatalf("kubectl: %v", err)
	}
	return Kubectl{binary: binary, dir: env.Dir, namespace: env.Namespace}
}

// Answer is the result of a kubectl command.
type Answer struct {
	// Code is the exit code.
	Code           int
	Stdout, Stderr string
}

// String returns all output and the exit code, for people.
func (a Answer) String() string {
	return strings.TrimSpace(fmt.Sprintf("%s\n%s(exit code %d)", a.Stdout, a.Stderr, a.Code))
}

// Run runs kubectl with arguments. A non-zero exit code isn't an error. Run returns an error if kubectl couldn't run to
// its end, for instance because ctx ended.
func (k Kubectl) Run(ctx context.Context, args ...string) (Answer, error) {
	all := append([]string{"kubectl", "--dir", k.dir, "--namespace", k.namespace}, args...)
	command := exec.CommandContext(ctx, k.binary, all...)
	var stdout, stderr bytes.Buffer
	command.Stdout, command.Stderr = &stdout, &stderr
	err := command.Run()
	answer := Answer{Code: command.ProcessState.ExitCode(), Stdout: stdout.String(), Stderr: stderr.String()}
	if exit := new(exec.ExitError); errors.As(err, &exit) && exit.Exited() && ctx.Err() == nil {
		return answer, nil
	}
	if err != nil {
		return answer, fmt.Errorf("kubectl %s: %w: %s", strings.Join(args, " "), err, answer)
	}
	return answer, nil
}
