package tlsfiles_test

import (
	"crypto/tls"
	"crypto/x509"
	"errors"
	"net"
	"net/http"
	"testing"
	"time"

	"github.com/operkit/operkit/reconcile/tlsfiles"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestMutual(t *testing.T) {
	t.Parallel()
	ca, other := issue(t, nil, 100*time.Hour), issue(t, nil, 100*time.Hour)
	t.Run("files 9: two directories speak mutual TLS", func(t *testing.T) {
		t.Parallel()
		server := open(t, secret(issue(t, ca, time.Hour, "web"), ca), tlsfiles.VerifyClients())
		client := open(t, secret(issue(t, ca, time.Hour), ca))
		seen, clientErr, serverErr := shake(t, server.Server(), client.Client("web"))
		require.NoError(t, errors.Join(clientErr, serverErr))
		assert.Equal(t, server.Expires(), seen.PeerCertificates[0].NotAfter)
	})
	for reason, row := range map[string]struct {
		client func(server *side) *tls.Config
		want   string
	}{
		"files 9: a client without a certificate": {func(s *side) *tls.Config { return plain(s.clock, "web", ca) }, "client didn't provide a certificate"},
		"files 9: a client with only a CA": {func(s *side) *tls.Config {
			only, err := tlsfiles.Load(tlsfiles.Files{CA: tlsfiles.Secret(s.dir).CA}, tlsfiles.Clock(s.clock.Now))
			require.NoError(t, err)
			return only.Client("web")
		}, "client didn't provide a certificate"},
		"files 9: a client of another CA": {func(*side) *tls.Config { return open(t, secret(issue(t, other, time.Hour), ca)).Client("web") }, "unknown authority"},
		"files 9: an expired client":      {func(*side) *tls.Config { return open(t, secret(issue(t, ca, -time.Minute), ca)).Client("web") }, "expired"},
	} {
		t.Run(reason, func(t *testing.T) {
			t.Parallel()
			server := open(t, secret(issue(t, ca, time.Hour, "web"), ca), tlsfiles.VerifyClients())
			_, clientErr, serverErr := shake(t, server.Server(), row.client(server))
			require.Error(t, clientErr)
			require.ErrorContains(t, serverErr, row.want)
		})
	}
	t.Run("files 9: a CA that is removed counts at the next handshake, also for clients that were there before", func(t *testing.T) {
		t.Parallel()
		leaf := issue(t, ca, time.Hour, "web")
		server := open(t, secret(leaf, ca, other), tlsfiles.VerifyClients())
		client := open(t, secret(issue(t, other, time.Hour), ca))
		asServer, asClient := server.Server(), client.Client("web")
		asClient.ClientSessionCache = tls.NewLRUClientSessionCache(1)
		for range 2 {
			seen, clientErr, serverErr := shake(t, asServer, asClient)
			require.NoError(t, errors.Join(clientErr, serverErr))
			assert.False(t, seen.DidResume)
		}
		mount(t, server.dir, secret(leaf, ca))
		server.clock.advance(time.Second)
		_, _, serverErr := shake(t, asServer, asClient)
		require.ErrorContains(t, serverErr, "unknown authority")
	})
	t.Run("files 9: without the function that reads the CAs no client is accepted, not even of the CAs of the system", func(t *testing.T) {
		t.Parallel()
		s := open(t, secret(issue(t, ca, time.Hour, "web"), ca), tlsfiles.VerifyClients())
		config := s.Server()
		config.GetConfigForClient = nil
		_, _, serverErr := shake(t, config, s.Client("web"))
		require.ErrorContains(t, serverErr, "unknown authority")
		assert.True(t, x509.NewCertPool().Equal(config.ClientCAs), "nil stands for the CAs of the system")
	})
	t.Run("files 9: a server needs a certificate", func(t *testing.T) {
		t.Parallel()
		s := open(t, secret(issue(t, ca, time.Hour, "web"), ca))
		only, err := tlsfiles.Load(tlsfiles.Files{CA: tlsfiles.Secret(s.dir).CA}, tlsfiles.Clock(s.clock.Now))
		require.NoError(t, err)
		_, _, serverErr := shake(t, only.Server(), s.Client("web"))
		require.ErrorContains(t, serverErr, "a server needs the files Certificate and Key")
		assert.Zero(t, only.Expires())
	})
}

func TestClient(t *testing.T) {
	t.Parallel()
	ca, other := issue(t, nil, 100*time.Hour), issue(t, nil, 100*time.Hour)
	between := issue(t, nil, time.Hour)
	for reason, row := range map[string]struct {
		leaf *pair
		name string
		want string
	}{
		"files 10: the host":                        {leaf: issue(t, ca, time.Hour, "web"), name: "web"},
		"files 10: a wildcard":                      {leaf: issue(t, ca, time.Hour, "*.shop.svc"), name: "web.shop.svc"},
		"files 10: an IP address":                   {leaf: issue(t, ca, time.Hour, "10.0.0.1"), name: "10.0.0.1"},
		"files 10: an IP address of version 6":      {leaf: issue(t, ca, time.Hour, "fd00::1"), name: "fd00::1"},
		"files 10: another host":                    {leaf: issue(t, ca, time.Hour, "web"), name: "db", want: "not db"},
		"files 10: another IP address":              {leaf: issue(t, ca, time.Hour, "10.0.0.1"), name: "10.0.0.2", want: "not 10.0.0.2"},
		"files 10: a host isn't an IP address":      {leaf: issue(t, ca, time.Hour, "web"), name: "10.0.0.1", want: "10.0.0.1"},
		"files 10: another CA":                      {leaf: issue(t, other, time.Hour, "web"), name: "web", want: "unknown authority"},
		"files 10: a certificate that signs itself": {leaf: between, name: "web", want: "certificate"},
		"files 10: an expired one":                  {leaf: issue(t, ca, -time.Minute, "web"), name: "web", want: "expired"},
	} {
		t.Run(reason, func(t *testing.T) {
			t.Parallel()
			server := open(t, secret(row.leaf))
			client := open(t, secret(issue(t, ca, time.Hour), ca))
			_, clientErr, _ := shake(t, server.Server(), client.Client(row.name))
			if row.want == "" {
				require.NoError(t, clientErr)
				return
			}
			require.ErrorContains(t, clientErr, row.want)
			var unverified *tls.CertificateVerificationError
			require.ErrorAs(t, clientErr, &unverified, "as without this package")
		})
	}
	t.Run("files 10: the name is the host that is dialled", func(t *testing.T) {
		t.Parallel()
		server := open(t, secret(issue(t, ca, time.Hour, "web")))
		config := open(t, secret(issue(t, ca, time.Hour), ca)).Client("")
		for host, want := range map[string]string{"web": "", "db": "not db", "127.0.0.1": "pass the name or address to Client"} {
			dialled := config.Clone() // as tls.Dial and net/http do
			dialled.ServerName = host
			_, clientErr, _ := shake(t, server.Server(), dialled)
			if want == "" {
				require.NoError(t, clientErr)
			} else {
				require.ErrorContains(t, clientErr, want)
			}
		}
	})
	t.Run("files 10: without a file CA the system decides", func(t *testing.T) {
		t.Parallel()
		server := open(t, secret(issue(t, ca, time.Hour, "web")))
		config := open(t, secret(issue(t, ca, time.Hour))).Client("web")
		assert.False(t, config.InsecureSkipVerify)
		_, clientErr, _ := shake(t, server.Server(), config)
		require.ErrorContains(t, clientErr, "unknown authority")
	})
	t.Run("files 10: intermediate CAs are of the server", func(t *testing.T) {
		t.Parallel()
		middle := issue(t, ca, time.Hour)
		middle = reissueAsCA(t, ca, middle)
		files := secret(issue(t, middle, time.Hour, "web"))
		client := open(t, secret(issue(t, ca, time.Hour), ca))
		_, clientErr, _ := shake(t, open(t, files).Server(), client.Client("web"))
		require.ErrorContains(t, clientErr, "unknown authority")
		files["tls.crt"] += middle.certPEM
		_, clientErr, _ = shake(t, open(t, files).Server(), client.Client("web"))
		require.NoError(t, clientErr)
	})
}

func TestProtocols(t *testing.T) {
	t.Parallel()
	ca := issue(t, nil, 100*time.Hour)
	leaf := issue(t, ca, time.Hour, "web")
	t.Run("files 11: TLS 1.2 and later", func(t *testing.T) {
		t.Parallel()
		s := open(t, secret(leaf, ca))
		old := plain(s.clock, "web", ca)
		old.MinVersion, old.MaxVersion = tls.VersionTLS10, tls.VersionTLS11
		_, clientErr, _ := shake(t, s.Server(), old)
		require.ErrorContains(t, clientErr, "protocol version")
		_, clientErr, _ = shake(t, old, s.Client("web"))
		require.ErrorContains(t, clientErr, "protocol version")
		assert.EqualValues(t, tls.VersionTLS12, s.Client("web").MinVersion)
	})
	for reason, row := range map[string]struct {
		opts []tlsfiles.Option
		want string
	}{
		"files 11: HTTP/1.1 alone":                 {want: "HTTP/1.1"},
		"files 11: HTTP/2 if the option offers it": {opts: []tlsfiles.Option{tlsfiles.Protocols("h2", "http/1.1")}, want: "HTTP/2.0"},
	} {
		t.Run(reason, func(t *testing.T) {
			t.Parallel()
			s := open(t, secret(leaf, ca), append(row.opts, tlsfiles.VerifyClients())...)
			listener, err := net.Listen("tcp", "127.0.0.1:0")
			require.NoError(t, err)
			server := &http.Server{
				TLSConfig: s.Server(), ReadHeaderTimeout: time.Minute,
				Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
					assert.Len(t, r.TLS.VerifiedChains, 1, "a handler knows the client")
					_, _ = w.Write([]byte(r.Proto))
				}),
			}
			done := make(chan error, 1)
			go func() { done <- server.ServeTLS(listener, "", "") }()
			transport := &http.Transport{TLSClientConfig: s.Client("web"), ForceAttemptHTTP2: true}
			request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, "https://"+listener.Addr().String(), nil)
			require.NoError(t, err)
			answer, err := transport.RoundTrip(request)
			require.NoError(t, err)
			assert.Equal(t, row.want, answer.Proto)
			require.NoError(t, answer.Body.Close())
			transport.CloseIdleConnections()
			require.NoError(t, server.Close())
			require.ErrorIs(t, <-done, http.ErrServerClosed)
		})
	}
	t.Run("files 11: what the caller changes in the configuration counts", func(t *testing.T) {
		t.Parallel()
		s := open(t, secret(leaf, ca), tlsfiles.VerifyClients())
		config := s.Server()
		config.MinVersion = tls.VersionTLS13
		config.VerifyConnection = func(tls.ConnectionState) error { return errors.New("not today") }
		_, _, serverErr := shake(t, config, s.Client("web"))
		require.ErrorContains(t, serverErr, "not today")
		client := s.Client("web")
		client.MaxVersion = tls.VersionTLS12
		_, _, serverErr = shake(t, config, client)
		require.ErrorContains(t, serverErr, "versions")
	})
	t.Run("files 11: sessions are resumed unless clients are verified", func(t *testing.T) {
		t.Parallel()
		s := open(t, secret(leaf, ca))
		server, client := s.Server(), s.Client("web")
		client.ClientSessionCache = tls.NewLRUClientSessionCache(1)
		for _, want := range []bool{false, true} {
			seen, clientErr, serverErr := shake(t, server, client)
			require.NoError(t, errors.Join(clientErr, serverErr))
			assert.Equal(t, want, seen.DidResume)
		}
	})
}
