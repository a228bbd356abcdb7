package pki

import (
	"crypto"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"encoding/pem"
	"errors"
	"fmt"
)

const (
	certificateBlock = "CERTIFICATE"
	privateKeyBlock  = "PRIVATE KEY"
	publicKeyBlock   = "PUBLIC KEY"
)

// KeyPair is a private key and its public half, both PEM encoded. Service account tokens are signed
// with one.
type KeyPair struct {
	Private []byte
	Public  []byte
}

// NewKeyPair makes a new key.
func NewKeyPair() (KeyPair, error) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return KeyPair{}, fmt.Errorf("key pair: %w", err)
	}
	private, err := encodeKey(key)
	if err != nil {
		return KeyPair{}, fmt.Errorf("key pair: %w", err)
	}
	public, err := x509.MarshalPKIXPublicKey(key.Public())
	if err != nil {
		return KeyPair{}, fmt.Errorf("key pair: %w", err)
	}
	return KeyPair{Private: private, Public: encode(publicKeyBlock, public)}, nil
}

func encodeCertificate(der []byte) []byte { return encode(certificateBlock, der) }

func encodeKey(key *ecdsa.PrivateKey) ([]byte, error) {
	der, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		return nil, err
	}
	return encode(privateKeyBlock, der), nil
}

func encode(kind string, der []byte) []byte {
	return pem.EncodeToMemory(&pem.Block{Type: kind, Bytes: der})
}

func decodeCertificate(encoded []byte) (*x509.Certificate, error) {
	block, _ := pem.Decode(encoded)
	if block == nil || block.Type != certificateBlock {
		return nil, errors.New("no certificate in PEM form")
	}
	return x509.ParseCertificate(block.Bytes)
}

func decodeKey(encoded []byte) (crypto.Signer, error) {
	block, _ := pem.Decode(encoded)
	if block == nil || block.Type != privateKeyBlock {
		return nil, errors.New("no private key in PEM form")
	}
	key, err := x509.ParsePKCS8PrivateKey(block.Bytes)
	if err != nil {
		return nil, err
	}
	signer, ok := key.(crypto.Signer)
	if !ok {
		return nil, fmt.Errorf("a private key of type %T cannot sign", key)
	}
	return signer, nil
}
