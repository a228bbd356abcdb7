package main

import (
	"strings"
	"testing"

	"github.com/operkit/operkit/tools/envtest/program"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// The old version is removed step by step, as the guide describes it. In the end no conversion is needed.
func TestOldVersionIsRemoved(t *testing.T) {
	t.Parallel()
	const count = 20
	w := newWorld(t, oldDefinition(t), "--components=etcd,apiserver")
	w.createOld(count)
	w.InstallCRDs(t, definition)
	operator := w.start()
	w.Eventually("the operator is ready", w.ready)
	const crd = "shops.examples.operkit.dev"
	stored := func() string { return w.ok("", "get", "crd", crd, "-o", "jsonpath={.status.storedVersions}") }
	require.Equal(t, `["v1","v2"]`, stored())

	refused := w.run("", "apply", "--server-side", "--force-conflicts", "-f", newDefinition(t))
	assert.Contains(t, refused.Output(), `status.storedVersions[0]: Invalid value: "v1"`)

	w.Eventually("all objects are written again", func() bool {
		return w.run(w.ok("", "get", inV2, "-o", "json"), "replace", "-f", "-").Code == 0
	})
	w.ok("", "patch", "crd", crd, "--subresource=status", "--type=merge", "-p", `{"status":{"storedVersions":["v2"]}}`)
	require.Equal(t, `["v2"]`, stored())
	require.Zero(t, operator.Stop(t))
	names := func() int { return len(strings.Fields(w.ok("", "get", inV2, "-o", "name"))) }
	assert.Equal(t, count, names(), "no operator runs that would convert")
	w.ok("", "apply", "--server-side", "--force-conflicts", "-f", newDefinition(t))
	removal := program.Run(t, program.Command("webhooks", "--remove", "--yes", "--conversions", "--kubeconfig", w.Kubeconfig(t, w.operator)))
	require.Zero(t, removal.Code, removal.Output())
	assert.Equal(t, "None", w.ok("", "get", "crd", crd, "-o", "jsonpath={.spec.conversion.strategy}"))
	assert.Equal(t, count, names())
}
