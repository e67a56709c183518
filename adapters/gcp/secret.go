package gcp

import (
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"net/http"
	"regexp"
	"strings"

	"google.golang.org/api/googleapi"
	"google.golang.org/api/option"
	"google.golang.org/api/secretmanager/v1"
)

// secretName matches the name of a secret in Secret Manager, with an optional emulator address for tests.
var secretName = regexp.MustCompile(`^(projects/[^/?]+/secrets/[A-Za-z0-9_-]+)(\?emulator=([^?&/]+))?$`)

// Secret is one secret of Secret Manager.
type Secret struct {
	name    string
	service *secretmanager.Service
}

// OpenSecret makes the client for a secret, projects/PROJECT/secrets/SECRET, with Google's application default credentials.
// It makes no calls.
func OpenSecret(ctx context.Context, name string) (*Secret, error) {
	found := secretName.FindStringSubmatch(name)
	if found == nil {
		return nil, fmt.Errorf("gcp: %q is not the name of a secret: want projects/PROJECT/secrets/SECRET", name)
	}
	var o []option.ClientOption
	if found[3] != "" {
		o = append(o, option.WithEndpoint("http://"+found[3]), option.WithoutAuthentication())
	}
	service, err := secretmanager.NewService(ctx, o...)
	if err != nil {
		return nil, fmt.Errorf("gcp: secret: %w", err)
	}
	return &Secret{found[1], service}, nil
}

// Read returns the text of the newest version, or "" if there is no version yet.
func (s *Secret) Read(ctx context.Context) (string, error) {
	got, err := s.service.Projects.Secrets.Versions.Access(s.name + "/versions/latest").Context(ctx).Do()
	if missing := (*googleapi.Error)(nil); errors.As(err, &missing) && missing.Code == http.StatusNotFound {
		// A secret without a version and a missing secret give the same error. Get tells them apart.
		if _, err := s.service.Projects.Secrets.Get(s.name).Context(ctx).Do(); err != nil {
			return "", fmt.Errorf("gcp: read secret %s: %w", s.name, err)
		}
		return "", nil
	}
	if err != nil {
		return "", fmt.Errorf("gcp: read secret %s: %w", s.name, err)
	}
	text, err := base64.StdEncoding.DecodeString(got.Payload.Data)
	if err != nil {
		return "", fmt.Errorf("gcp: read secret %s: its value is not base64", s.name)
	}
	return strings.TrimSpace(string(text)), nil
}

// Write adds a version with this text. Older versions stay readable by their numbers.
func (s *Secret) Write(ctx context.Context, text string) error {
	_, err := s.service.Projects.Secrets.AddVersion(s.name, &secretmanager.AddSecretVersionRequest{
		Payload: &secretmanager.SecretPayload{Data: base64.StdEncoding.EncodeToString([]byte(text))},
	}).Context(ctx).Do()
	if err != nil {
		return fmt.Errorf("gcp: write secret %s: %w", s.name, err)
	}
	return nil
}
