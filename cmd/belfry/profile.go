package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"runtime"

	"github.com/belfry-dev/belfry/client"
)

// profile is a server that is called by a name.
type profile struct {
	URL   string `json:"url"`
	Token string `json:"token,omitempty"`
}

// profiles are those of the user, by name.
type profiles struct {
	path   string
	byName map[string]profile
}

const (
	maxProfiles    = 1 << 20 // bytes of the file
	othersMay      = 0o077   // of its mode: what anyone but its owner may do
	defaultProfile = "default"
)

var profileName = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9_.-]{0,63}$`)

// readProfiles reads the file in the user's configuration folder. No file means no profiles. One that others can
// read or write is refused: it holds tokens, and says where they are sent.
func readProfiles() (p profiles, err error) {
	dir, err := os.UserConfigDir()
	if err != nil {
		return profiles{byName: map[string]profile{}}, nil // nowhere to keep any
	}
	p = profiles{path: filepath.Join(dir, "belfry", "profiles.json"), byName: map[string]profile{}}
	file, err := os.Open(p.path)
	if errors.Is(err, os.ErrNotExist) {
		return p, nil
	}
	if err != nil {
		return p, usage("profiles: %s", err)
	}
	defer func() { err = errors.Join(err, file.Close()) }()
	info, err := file.Stat()
	if err != nil {
		return p, usage("profiles: %s", err)
	}
	if info.Mode().Perm()&othersMay != 0 && runtime.GOOS != "windows" {
		return p, usage("%s holds tokens, and others can read or change it: chmod 600 it, and change the tokens", p.path)
	}
	text, err := io.ReadAll(io.LimitReader(file, maxProfiles))
	if err != nil {
		return p, usage("profiles: %s", err)
	}
	if text, err = plainText(text); err != nil {
		return p, usage("%s %s", p.path, err)
	}
	d := json.NewDecoder(bytes.NewReader(text))
	d.DisallowUnknownFields()
	if err := d.Decode(&p.byName); err != nil || p.byName == nil || d.More() {
		return p, usage(`%s is not {"NAME": {"url": "…", "token": "…"}}; belfry profiles set writes it`, p.path) // the error could quote a token
	}
	return p, nil
}

// write replaces the file whole.
func (p *profiles) write() error {
	if p.path == "" {
		return errors.New("profiles: this user has no folder for configuration: set XDG_CONFIG_HOME or HOME")
	}
	text, err := json.MarshalIndent(p.byName, "", "  ")
	if err != nil {
		return err
	}
	if err := os.MkdirAll(filepath.Dir(p.path), 0o700); err != nil {
		return fmt.Errorf("profiles: %w", err)
	}
	fresh, err := os.CreateTemp(filepath.Dir(p.path), "profiles-*.json") // 0600
	if err != nil {
		return fmt.Errorf("profiles: %w", err)
	}
	_, err = fresh.Write(append(text, '\n'))
	if err = errors.Join(err, fresh.Close()); err == nil {
		err = os.Rename(fresh.Name(), p.path)
	}
	if err != nil {
		return errors.Join(fmt.Errorf("profiles: %w", err), os.Remove(fresh.Name()))
	}
	return nil
}

// settle takes from the environment what no flag says, and from the profile what neither says. A profile's token
// goes to the profile's own server only: under another address it stays where it is.
func (a *app) settle() error {
	if a.settled {
		return nil
	}
	for _, from := range []struct {
		name, flag string
		to, source *string
	}{{"BELFRY_URL", "--url", &a.address, &a.addressFrom}, {"BELFRY_TOKEN", "--token", &a.token, &a.tokenFrom}, {"BELFRY_PROFILE", "--profile", &a.profile, new(string)}} {
		text, err := a.variable(from.name)
		if err != nil {
			return err
		}
		*from.source = from.flag
		if *from.to == "" {
			*from.to, *from.source = text, from.name
		}
	}
	if a.profile != "" || a.address == "" || a.token == "" {
		if err := a.takeProfile(); err != nil {
			return err
		}
	}
	if a.address == "" {
		a.address = defaultAddress
	}
	a.address = client.BaseAddress(a.address)
	a.settled = true
	return nil
}

func (a *app) takeProfile() error {
	known, err := readProfiles()
	if err != nil {
		return err
	}
	name := a.profile
	if name == "" {
		name = defaultProfile
	}
	p, found := known.byName[name]
	if !found {
		if a.profile != "" {
			return usage("there is no profile %q; belfry profiles list shows those there are", a.profile)
		}
		return nil
	}
	if p.URL == "" {
		return usage("the profile %q has no url: belfry profiles set %s --url … gives it one", name, name)
	}
	if a.address == "" {
		a.address, a.addressFrom = p.URL, fmt.Sprintf("the profile %q", name)
	}
	if a.token == "" && client.BaseAddress(a.address) == client.BaseAddress(p.URL) {
		a.token, a.tokenFrom = p.Token, fmt.Sprintf("the profile %q", name)
	}
	return nil
}
