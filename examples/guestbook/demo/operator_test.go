package main

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// perform starts one of the programs in testdata and waits until it has said something, so
// that it hears signals.
func perform(t *testing.T, name string) *operatorProcess {
	t.Helper()
	program, err := filepath.Abs(filepath.Join("testdata", "operators", name+".sh"))
	require.NoError(t, err)
	log := filepath.Join(t.TempDir(), "log")
	operator, err := startOperator(t.Context(), program, "some.kubeconfig", log)
	require.NoError(t, err)
	t.Cleanup(func() {
		_ = operator.process.Kill()
		<-operator.ended
	})
	require.Eventually(t, func() bool {
		text, err := os.ReadFile(log)
		return err == nil && len(text) > 0
	}, 10*time.Second, time.Millisecond)
	return operator
}

func TestOperatorEndsInGoodOrder(t *testing.T) {
	t.Parallel()
	operator := perform(t, "graceful")
	require.NoError(t, operator.alive())
	assert.Equal(t, "  called with run --kubeconfig some.kubeconfig", operator.tail())
	require.NoError(t, operator.stop(t.Context()))
	require.NoError(t, operator.stop(t.Context()), "asked again")
	assert.EqualError(t, operator.alive(), "the operator ended by itself: exit status 0")
}

func TestOperatorThatFailsOnSIGTERM(t *testing.T) {
	t.Parallel()
	assert.EqualError(t, perform(t, "clumsy").stop(t.Context()), "the operator didn't end well: exit status 3")
}

func TestOperatorThatDoesNotEndIsKilled(t *testing.T) {
	t.Parallel()
	operator := perform(t, "stubborn")
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	require.ErrorIs(t, operator.stop(ctx), context.DeadlineExceeded)
	assert.EqualError(t, operator.err, "signal: killed")
}

func TestOperatorThatEndsByItself(t *testing.T) {
	t.Parallel()
	operator := perform(t, "shortlived")
	<-operator.ended
	require.EqualError(t, operator.alive(), "the operator ended by itself: exit status 4")
	lines := strings.Split(operator.tail(), "\n")
	assert.Len(t, lines, tailLines)
	assert.Equal(t, "  line 30", lines[tailLines-1])
}

func TestOperatorThatCannotBeStarted(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	_, err := startOperator(t.Context(), filepath.Join(dir, "missing"), "", filepath.Join(dir, "log"))
	require.ErrorIs(t, err, os.ErrNotExist)
	assert.ErrorContains(t, err, "operator: ")
	_, err = startOperator(t.Context(), filepath.Join(dir, "missing"), "", filepath.Join(dir, "no", "log"))
	require.ErrorIs(t, err, os.ErrNotExist)
}

func TestBuildOfBrokenSource(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	require.NoError(t, os.WriteFile(filepath.Join(dir, "go.mod"), []byte("module broken\n"), 0o600))
	require.NoError(t, os.WriteFile(filepath.Join(dir, "main.go"), []byte("package main\n\nfunc main() { missing() }\n"), 0o600))
	err := build(t.Context(), dir, filepath.Join(dir, "program"))
	assert.ErrorContains(t, err, "go build")
	assert.ErrorContains(t, err, "undefined: missing", "what the compiler said")
}

func TestSourceFolder(t *testing.T) {
	t.Parallel()
	folder, err := sourceFolder(t.Context())
	require.NoError(t, err)
	assert.FileExists(t, filepath.Join(folder, "config", "sample.yaml"))
}
