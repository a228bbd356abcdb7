package certificate

import (
	"crypto/tls"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestSelfSigned(t *testing.T) {
	t.Parallel()
	config, err := SelfSigned("metrics")
	require.NoError(t, err)
	leaf := config.Certificates[0].Leaf
	assert.Subset(t, leaf.DNSNames, []string{"metrics", "localhost"})
	assert.Greater(t, time.Until(leaf.NotAfter), 9*365*24*time.Hour, "longer than the process lives")
	assert.EqualValues(t, tls.VersionTLS12, config.MinVersion)
	assert.Equal(t, []string{"http/1.1"}, config.NextProtos)
}
