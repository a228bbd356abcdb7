package operator_test

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/operkit/operkit/operator"
	"github.com/operkit/operkit/reconcile"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// vault is a widget's controller with a Secret, a value that is only made when it is deployed, and a disabled
// component.
type vault struct{ widget }

func (vault) Setup(ctx context.Context, s *reconcile.Session) error {
	generated, err := s.Generated(ctx, "vault", "key", func() (string, error) { return "random", nil })
	if err != nil {
		return err
	}
	s.Add("vault", map[string]any{"apiVersion": "v1", "kind": "Secret", "metadata": map[string]any{"name": "vault"},
		"data": map[string]any{"gold": "aHVudGVyMg=="}, "stringData": map[string]any{"key": generated}})
	s.Add("attic", configMap("attic")).Disable()
	s.Add("hall", configMap("hall")).After(s.Add("empty"))
	return nil
}

func renderVault(t *testing.T, args ...string) (out, log string) {
	t.Helper()
	op := operator.New("vault-operator")
	op.Control(vault{})
	var stdout, stderr bytes.Buffer
	code := op.Execute(t.Context(), append([]string{"run", "--dry-run", "--cr", file(t, sample)}, args...), &stdout, &stderr)
	require.Zero(t, code, stderr.String())
	return stdout.String(), stderr.String()
}

func TestDryRunMasksSecrets(t *testing.T) {
	t.Parallel()
	const notice = "values of Secrets are masked: add --show-secrets before you apply the output"
	t.Run("reconcile 17: printed", func(t *testing.T) {
		t.Parallel()
		out, log := renderVault(t)
		assert.Contains(t, out, "# vault: Secret/vault (values masked)\napiVersion: v1\ndata:\n  gold: KG1hc2tlZCk=\n")
		assert.Contains(t, out, "key: "+reconcile.GeneratedPlaceholder, "which is no secret")
		assert.NotContains(t, out, "attic")
		assert.Equal(t, 1, strings.Count(log, notice), log)
	})
	t.Run("reconcile 17: printed in the clear when asked", func(t *testing.T) {
		t.Parallel()
		out, log := renderVault(t, "--show-secrets")
		assert.Contains(t, out, "# vault: Secret/vault\napiVersion: v1\ndata:\n  gold: aHVudGVyMg==\n")
		assert.NotContains(t, log, notice)
	})
	t.Run("reconcile 17: in files", func(t *testing.T) {
		t.Parallel()
		dir := t.TempDir()
		written := filepath.Join(dir, "example.com.v1.widget", "shop", "sample")
		out, log := renderVault(t, "--output-dir", dir)
		assert.Equal(t, []string{filepath.Join(written, "hall", "sample-hall.k8s.yaml"), filepath.Join(written, "vault", "sample-vault.k8s.yaml")}, sortedLines(out))
		assert.Contains(t, log, notice)
		content, err := os.ReadFile(filepath.Join(written, "vault", "sample-vault.k8s.yaml"))
		require.NoError(t, err)
		assert.Contains(t, string(content), "gold: KG1hc2tlZCk=")

		out, _ = renderVault(t, "--output-dir", dir, "--show-secrets", "--show-disabled")
		assert.Contains(t, sortedLines(out), filepath.Join(written, "DISABLED", "attic", "sample-attic.k8s.yaml"))
		content, err = os.ReadFile(filepath.Join(written, "vault", "sample-vault.k8s.yaml"))
		require.NoError(t, err)
		assert.Contains(t, string(content), "gold: aHVudGVyMg==")

		renderVault(t, "--output-dir", dir)
		assert.NoDirExists(t, filepath.Join(written, "DISABLED"), "what is no more is removed")
	})
	t.Run("no Secret, no notice", func(t *testing.T) {
		t.Parallel()
		code, _, log := execute(t, "run", "--dry-run", "--cr", file(t, sample))
		assert.Zero(t, code)
		assert.NotContains(t, log, "masked")
	})
}

// What a file says of itself leads no file out of the directory.
func TestDryRunStaysInItsDirectory(t *testing.T) {
	t.Parallel()
	base := t.TempDir()
	name := file(t, strings.Replace(sample, "name: sample, namespace: shop", `name: "../../../x", namespace: ".."`, 1))
	code, out, log := execute(t, "run", "--dry-run", "--cr", name, "--output-dir", filepath.Join(base, "in"))
	if code == 0 {
		assert.Contains(t, out, filepath.Join(base, "in", "example.com.v1.widget", "%2E.", "%2E.%2F..%2F..%2Fx"), log)
	}
	entries, err := os.ReadDir(base)
	require.NoError(t, err)
	assert.Len(t, entries, 1)
}

func sortedLines(text string) []string {
	lines := strings.Split(strings.TrimSpace(text), "\n")
	for i := range lines {
		for j := i + 1; j < len(lines); j++ {
			if lines[j] < lines[i] {
				lines[i], lines[j] = lines[j], lines[i]
			}
		}
	}
	return lines
}
