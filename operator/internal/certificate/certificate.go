package certificate

import (
	"crypto/tls"
	"net"
	"time"

	"k8s.io/client-go/util/cert"
)

// life is how long a self-signed certificate is valid: longer than a process lives.
const life = 10 * 365 * 24 * time.Hour

// SelfSigned makes a certificate for the life of the process, and returns the configuration of a server with it: TLS
// 1.2 and later, and only HTTP/1.1, because with HTTP/2 one client could keep a server busy by resetting streams.
// Connections are encrypted, but clients can't verify the server.
func SelfSigned(name string) (*tls.Config, error) {
	certificate, key, err := cert.GenerateSelfSignedCertKeyWithOptions(cert.SelfSignedCertKeyOptions{
		Host: name, AlternateDNS: []string{"localhost"}, AlternateIPs: []net.IP{net.IPv4(127, 0, 0, 1), net.IPv6loopback}, MaxAge: life,
	})
	if err != nil {
		return nil, err
	}
	pair, err := tls.X509KeyPair(certificate, key)
	return &tls.Config{Certificates: []tls.Certificate{pair}, MinVersion: tls.VersionTLS12, NextProtos: []string{"http/1.1"}}, err
}
