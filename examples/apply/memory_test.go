package main

import (
	"bytes"
	"context"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/operkit/operkit/deploy/dryrun"
)

// shelf is a cluster in memory to which the command is applied.
type shelf struct {
	*dryrun.Cluster
	settings
}

func newShelf(t *testing.T, options ...dryrun.Option) shelf {
	t.Helper()
	memory, err := dryrun.New(append(options, dryrun.Namespaces("shop"))...)
	require.NoError(t, err)
	return shelf{memory, settings{namespace: "shop", timeout: time.Minute}}
}

// run does what the settings say with the manifests of a text, and returns the lines that are said.
func (s shelf) run(ctx context.Context, t *testing.T, text string) (lines []string, err error) {
	t.Helper()
	manifests, err := decode("f.yaml", []byte(text))
	require.NoError(t, err)
	var out bytes.Buffer
	ctx, cancel := context.WithTimeout(ctx, s.timeout)
	defer cancel()
	m, err := s.manager(s.Cluster)
	require.NoError(t, err)
	if s.diff {
		err = s.showDiff(ctx, &out, m, manifests)
	} else {
		err = s.apply(ctx, &out, m, manifests)
	}
	return strings.Split(strings.TrimSpace(out.String()), "\n"), err
}

func last(lines []string) string { return lines[len(lines)-1] }

const (
	two = `{apiVersion: v1, kind: ConfigMap, metadata: {name: a}, data: {number: "1"}}
---
{apiVersion: v1, kind: ConfigMap, metadata: {name: b, namespace: shop}}
`
	nameless = `apiVersion: v1
kind: ConfigMap
metadata: {}
`
)

func TestDiffSummary(t *testing.T) {
	t.Parallel()
	s := newShelf(t)
	_, err := s.run(t.Context(), t, two)
	require.NoError(t, err)
	s.diff = true
	lines, err := s.run(t.Context(), t, two)
	require.NoError(t, err)
	assert.Equal(t, []string{"2 unchanged"}, lines)
	lines, err = s.run(t.Context(), t, strings.Replace(two, `"1"`, `"2"`, 1))
	require.NoError(t, err)
	assert.Contains(t, lines, `+  number: "2"`)
	assert.Equal(t, "would be: 1 configured, 1 unchanged", last(lines))
}

// What is no number of JavaScript's arrives as it was written.
func TestNumbers(t *testing.T) {
	t.Parallel()
	s := newShelf(t, dryrun.AnyKind())
	_, err := s.run(t.Context(), t, `{apiVersion: x.example.com/v1, kind: X, metadata: {name: x}, spec: {number: 9007199254740993}}`)
	require.NoError(t, err)
	for _, obj := range s.Objects() {
		if obj.GetKind() == "X" {
			assert.Equal(t, map[string]any{"number": int64(9007199254740993)}, obj.Object["spec"])
			return
		}
	}
	require.Fail(t, "nothing was applied")
}
