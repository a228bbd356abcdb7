package tlsfiles

import (
	"crypto/tls"
	"crypto/x509"
	"errors"
)

// Server returns the configuration of a server: TLS 1.2 and later, with the protocols of the option Protocols. What is
// changed in it before it is used counts. What is changed in a copy of it doesn't, such as NextProtos, to which
// net/http adds HTTP/2. Don't replace the function GetConfigForClient: with another one, the option VerifyClients
// accepts no client.
func (s *Source) Server() *tls.Config {
	config := &tls.Config{MinVersion: tls.VersionTLS12, NextProtos: s.protocols, GetCertificate: s.served, Time: s.now}
	if s.verifyClients {
		config.ClientAuth, config.SessionTicketsDisabled = tls.RequireAndVerifyClientCert, true
		// Without a pool, crypto/tls would accept clients of the CAs of the system if GetConfigForClient is replaced.
		config.ClientCAs = x509.NewCertPool()
	}
	config.GetConfigForClient = func(*tls.ClientHelloInfo) (*tls.Config, error) {
		m := s.current()
		if m == nil {
			return nil, errNone
		}
		each := config.Clone()
		each.GetConfigForClient = nil
		if s.verifyClients {
			each.ClientCAs = m.pool
		}
		return each, nil
	}
	return config
}

// Client returns the configuration of a client: TLS 1.2 and later, with the certificate if a server asks for one.
//
// serverName is the host name or IP address that the certificate of the server must be valid for. If it is empty, it is
// the host that is dialled, which then can't be an IP address: handshakes with one fail. The CAs of the system are
// trusted only if no file CA is named.
//
// With a file CA, InsecureSkipVerify is set because the configuration itself verifies servers, by the CAs as they are
// at the handshake. VerifyConnection does it: don't replace that function.
func (s *Source) Client(serverName string) *tls.Config {
	config := &tls.Config{MinVersion: tls.VersionTLS12, ServerName: serverName, Time: s.now}
	if s.files.Certificate != "" {
		config.GetClientCertificate = func(*tls.CertificateRequestInfo) (*tls.Certificate, error) { return s.served(nil) }
	}
	if s.files.CA == "" {
		return config
	}
	config.InsecureSkipVerify = true //nolint:gosec // VerifyConnection verifies, by CAs that may have changed
	config.VerifyConnection = func(state tls.ConnectionState) error { return s.verify(state, serverName) }
	return config
}

// verify verifies the certificate of a server as crypto/tls does.
func (s *Source) verify(state tls.ConnectionState, serverName string) error {
	if serverName == "" {
		serverName = state.ServerName
	}
	// crypto/x509 accepts each name if none is given.
	if serverName == "" {
		return errors.New("TLS from files: the name of the server isn't known, as it was dialled by its IP address: pass the name or address to Client")
	}
	m := s.current()
	if m == nil || len(state.PeerCertificates) == 0 {
		return errNone
	}
	intermediates := x509.NewCertPool()
	for _, one := range state.PeerCertificates[1:] {
		intermediates.AddCert(one)
	}
	_, err := state.PeerCertificates[0].Verify(x509.VerifyOptions{Roots: m.pool, Intermediates: intermediates, DNSName: serverName, CurrentTime: s.now()})
	if err != nil {
		return &tls.CertificateVerificationError{UnverifiedCertificates: state.PeerCertificates, Err: err}
	}
	return nil
}

func (s *Source) served(*tls.ClientHelloInfo) (*tls.Certificate, error) {
	if s.files.Certificate == "" {
		return nil, errors.New("TLS from files: a server needs the files Certificate and Key")
	}
	m := s.current()
	if m == nil {
		return nil, errNone
	}
	return &m.pair, nil
}
