package operator

import (
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"k8s.io/client-go/rest"
)

func TestLimits(t *testing.T) {
	t.Parallel()
	for reason, row := range map[string]struct {
		given []string
		said  limits
		want  limits
	}{
		"none: those of package cluster":   {nil, limits{}, limits{}},
		"a burst follows from the queries": {[]string{"kube-api-qps"}, limits{qps: 50}, limits{50, 100}},
		"and is never none":                {[]string{"kube-api-qps"}, limits{qps: 0.1}, limits{0.1, 1}},
		"both":                             {limitFlags, limits{1000, 2000}, limits{1000, 2000}},
	} {
		t.Run(reason, func(t *testing.T) {
			t.Parallel()
			require.NoError(t, row.said.check(func(flag string) bool { return slices.Contains(row.given, flag) }))
			var config rest.Config
			row.said.set(&config)
			assert.Equal(t, row.want, limits{config.QPS, config.Burst})
		})
	}
}
