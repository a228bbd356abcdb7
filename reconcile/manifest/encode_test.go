package manifest

import (
	"bytes"
	"errors"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestEncode(t *testing.T) {
	t.Parallel()
	var out bytes.Buffer
	require.NoError(t, Encode(&out, Component{Name: "a\n- b\r\u0085\u2028c", Objects: component(t, "", "x").Objects}))
	assert.Equal(t, "---\n# a - b   c: ConfigMap/x\n", strings.Join(strings.SplitAfter(out.String(), "\n")[:2], ""), "a comment stays one")

	out.Reset()
	disabled := component(t, "attic", "x")
	disabled.Disabled = true
	require.NoError(t, Encode(&out, disabled))
	assert.Empty(t, out.String())
	require.NoError(t, Encode(&out, disabled, Disabled()))
	assert.True(t, strings.HasPrefix(out.String(), "---\n# attic (disabled): ConfigMap/x\n"))

	out.Reset()
	bad := component(t, "bad", "x", "z")
	bad.Objects[1].Object["spec"] = func() {}
	require.ErrorContains(t, Encode(&out, bad), "component bad: ConfigMap z: ")
	assert.Empty(t, out.String(), "all or nothing")
	require.ErrorContains(t, Encode(full{}, component(t, "a", "x")), "no space")
}

type full struct{}

func (full) Write([]byte) (int, error) { return 0, errors.New("no space") }

func TestHasSecrets(t *testing.T) {
	t.Parallel()
	assert.False(t, component(t, "a", "x").HasSecrets())
	assert.True(t, Component{Objects: append(component(t, "a", "x").Objects, secret(t))}.HasSecrets())
	assert.False(t, Component{Objects: append(component(t, "a").Objects, object(t, "{apiVersion: v1, kind: Secret, data: {}}"))}.HasSecrets())
}
