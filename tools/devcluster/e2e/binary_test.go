package e2e

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"go.uber.org/goleak"
)

// binaryVariable names the program to test.
const binaryVariable = "OPERKIT_DEVCLUSTER_BINARY"

// binary is the path of the program under test.
var binary string

func TestMain(m *testing.M) {
	// What the user of this machine has set must not reach the clusters of the tests.
	for _, name := range []string{"OPERKIT_DEVCLUSTER", "KUBECONFIG"} {
		if err := os.Unsetenv(name); err != nil {
			fail(err)
		}
	}
	binary = os.Getenv(binaryVariable)
	if binary == "" {
		var err error
		if binary, err = build(); err != nil {
			fail(err)
		}
	}
	if _, err := os.Stat(binary); err != nil {
		fail(fmt.Errorf("$%s: %w", binaryVariable, err))
	}
	goleak.VerifyTestMain(m)
}

func fail(err error) {
	fmt.Fprintln(os.Stderr, "e2e:", err)
	os.Exit(1)
}

// build builds the program as README.md says. After the first time only what has changed is
// compiled.
func build() (string, error) {
	cache, err := os.UserCacheDir()
	if err != nil {
		return "", err
	}
	path := filepath.Join(cache, "operkit", "devcluster-e2e", "devcluster")
	variables, err := buildVariables()
	if err != nil {
		return "", err
	}
	cmd := exec.Command("go", "build", "-o", path, ".")
	cmd.Dir = ".."
	cmd.Env = append(os.Environ(), variables...)
	if out, err := cmd.CombinedOutput(); err != nil {
		return "", fmt.Errorf("go build: %w: %s", err, out)
	}
	return path, nil
}

// buildVariables reads build.env.
func buildVariables() ([]string, error) {
	raw, err := os.ReadFile(filepath.Join("..", "build.env"))
	if err != nil {
		return nil, err
	}
	var variables []string
	for line := range bytes.Lines(raw) {
		name, value, ok := strings.Cut(strings.TrimSpace(string(line)), "=")
		if !ok {
			return nil, fmt.Errorf("build.env: %q is not of the form NAME=value", line)
		}
		variables = append(variables, name+"="+strings.Trim(value, `"`))
	}
	return variables, nil
}
