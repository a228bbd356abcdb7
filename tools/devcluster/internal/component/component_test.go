package component

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestParse(t *testing.T) {
	t.Parallel()
	for _, n := range All() {
		short, err := Parse(string(n))
		require.NoError(t, err)
		assert.Equal(t, n, short, "the short name")
		long, err := Parse(n.Program())
		require.NoError(t, err)
		assert.Equal(t, n, long, "the program's name")
	}
	_, err := Parse("kubelet")
	assert.EqualError(t, err, `component "kubelet" is unknown: choose from etcd,apiserver,controller-manager,scheduler,kwok`)
}

func TestParseSet(t *testing.T) {
	t.Parallel()
	for _, row := range []struct {
		reason string
		names  []string
		want   string
		err    string
	}{
		{"nothing given means everything", nil, "etcd,apiserver,controller-manager,scheduler,kwok", ""},
		{"the smallest cluster", []string{"etcd", "apiserver"}, "etcd,apiserver", ""},
		{"the order is that of the start, not the user's", []string{"kwok", "kube-apiserver", " etcd"}, "etcd,apiserver,kwok", ""},
		{"twice is once", []string{"etcd", "etcd", "apiserver"}, "etcd,apiserver", ""},
		{"the apiserver needs etcd", []string{"apiserver"}, "", "components apiserver: etcd is missing, every cluster needs etcd and apiserver"},
		{"the rest needs the apiserver", []string{"etcd", "kwok"}, "", "components etcd,kwok: apiserver is missing, every cluster needs etcd and apiserver"},
		{"an unknown name", []string{"etcd", "proxy"}, "", `component "proxy" is unknown: choose from etcd,apiserver,controller-manager,scheduler,kwok`},
		{"an empty name", []string{"etcd", ""}, "", `component "" is unknown: choose from etcd,apiserver,controller-manager,scheduler,kwok`},
	} {
		t.Run(row.reason, func(t *testing.T) {
			t.Parallel()
			got, err := ParseSet(row.names)
			if row.err != "" {
				assert.EqualError(t, err, row.err)
				return
			}
			require.NoError(t, err)
			assert.Equal(t, row.want, got.String())
			for _, n := range got {
				assert.True(t, got.Has(n))
			}
		})
	}
}
