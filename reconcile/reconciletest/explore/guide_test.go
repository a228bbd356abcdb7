package explore

import (
	"context"
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// recording creates a till with a generated name, and records in the status that there is one.
func recording(ctx context.Context, m *manual, shop *unstructured.Unstructured) error {
	if statusOf(shop, "till") == "created" {
		return nil
	}
	err := m.create(ctx, shop, "{apiVersion: v1, kind: ConfigMap, metadata: {generateName: till-}}")
	if err != nil {
		return err
	}
	return m.status(ctx, shop, "till", "created")
}

// mended creates the till with a fixed name, and looks for it instead of trusting the status.
func mended(ctx context.Context, m *manual, shop *unstructured.Unstructured) error {
	till, err := m.get(ctx, "ConfigMap", shop.GetName()+"-till", shop)
	if err != nil || till != nil {
		return err
	}
	return m.create(ctx, shop, "{apiVersion: v1, kind: ConfigMap, metadata: {name: %s-till}}", shop.GetName())
}

// The guide page finding-faults.md shows what explorations of recording and mended write. With the flag -update the
// files are written again.
func TestGuide(t *testing.T) {
	picture := filepath.Join(t.TempDir(), "states.svg")
	found := byHand(recording).explore(t, false, Findings(1), Picture(picture))
	require.Len(t, found.findings, 1)
	svg, err := os.ReadFile(picture)
	require.NoError(t, err)
	sound := byHand(mended).explore(t, true, States(500))
	t.Run("explore 1: the operator as the guide mends it", func(t *testing.T) { require.Empty(t, sound.findings, stories(sound)) })
	t.Run("explore 41: the line replays, and with the requests of the mended operator nothing is found", func(t *testing.T) {
		line := found.findings[0].replay()
		require.Contains(t, line, "kill-after@1.2")
		assert.Len(t, byHand(recording).explore(t, false, Replay(line)).findings, 1)
		r := byHand(mended).explore(t, true, Replay(strings.Replace(line, "@1.2", "@1.3", 1)))
		assert.Empty(t, r.findings, stories(r))
	})
	for file, content := range map[string]string{
		"finding.txt": found.findings[0].story() + "\n", "coverage.txt": sound.summary() + "\n", "states.svg": string(svg),
	} {
		t.Run("explore 5: the same as in the guide: "+file, func(t *testing.T) {
			file := filepath.Join("testdata", "guide", file)
			if flag.Lookup("update").Value.String() == "true" {
				require.NoError(t, writeFile(file, content))
			}
			shown, err := os.ReadFile(file)
			require.NoError(t, err)
			assert.Equal(t, string(shown), content)
		})
	}
}
