package webhook

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"
)

// Bounds of a signing secret's bytes, from Standard Webhooks 1.0.0.
const (
	minSecretBytes = 24
	maxSecretBytes = 64
	secretPrefix   = "whsec_"
)

// maxSecrets bounds how many signatures one delivery carries.
const maxSecrets = 10

// signer signs deliveries by every secret in use.
type signer struct{ keys [][]byte }

// newSigner reads secrets of the form whsec_<base64>, newest first. Errors name a secret by its place, never by its text.
func newSigner(secrets []string) (signer, error) {
	if len(secrets) == 0 || len(secrets) > maxSecrets {
		return signer{}, fmt.Errorf("signing secrets: %d given, 1 to %d are needed", len(secrets), maxSecrets)
	}
	var s signer
	for i, secret := range secrets {
		key, err := parseSecret(secret)
		if err != nil {
			return signer{}, fmt.Errorf("signing secret %d of %d: %w", i+1, len(secrets), err)
		}
		s.keys = append(s.keys, key)
	}
	return s, nil
}

// CheckSecrets refuses what New would refuse of signing secrets.
func CheckSecrets(secrets []string) error {
	_, err := newSigner(secrets)
	return err
}

func parseSecret(secret string) ([]byte, error) {
	text, ok := strings.CutPrefix(secret, secretPrefix)
	if !ok {
		return nil, errors.New("must begin with " + secretPrefix)
	}
	key, err := base64.StdEncoding.Strict().DecodeString(text)
	if err != nil || strings.ContainsAny(text, "\r\n") {
		return nil, errors.New("must be " + secretPrefix + " and base64 with padding")
	}
	if len(key) < minSecretBytes || len(key) > maxSecretBytes {
		return nil, fmt.Errorf("has %d bytes, must have %d to %d", len(key), minSecretBytes, maxSecretBytes)
	}
	return key, nil
}

// sign returns the value of webhook-signature: one v1 signature per secret, separated by spaces, each over
// id, the whole seconds of at, and body.
func (s signer) sign(id string, at time.Time, body []byte) string {
	var out strings.Builder
	for i, key := range s.keys {
		mac := hmac.New(sha256.New, key)
		mac.Write([]byte(id + "." + strconv.FormatInt(at.Unix(), 10) + "."))
		mac.Write(body)
		if i > 0 {
			out.WriteByte(' ')
		}
		out.WriteString("v1,")
		out.WriteString(base64.StdEncoding.EncodeToString(mac.Sum(nil)))
	}
	return out.String()
}
