import { existsSync, readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { z } from 'zod';
import { buildProgram } from '../../cli/program.js';
import { processIo } from '../../cli/io.js';

const serviceSchema = z.looseObject({
  image: z.string(),
  build: z.string().optional(),
  entrypoint: z.array(z.string()).optional(),
  command: z.array(z.string()).optional(),
  depends_on: z.record(z.string(), z.object({ condition: z.enum(['service_started', 'service_healthy', 'service_completed_successfully']) })).optional(),
  healthcheck: z.object({ test: z.array(z.string()).min(2) }).loose().optional(),
  ports: z.array(z.string()).default([]),
  volumes: z.array(z.string()).default([]),
  network_mode: z.string().optional(),
  restart: z.string(),
});
const composeSchema = z.object({ services: z.record(z.string(), serviceSchema), volumes: z.record(z.string(), z.null()) }).loose();

const text = readFileSync('docker-compose.yml', 'utf8');
const { services, volumes } = composeSchema.parse(parse(text, { merge: true }));
const dockerfile = readFileSync('Dockerfile', 'utf8').split('\n');
const commands = buildProgram(processIo(), () => Promise.resolve()).commands.map((command) => command.name());
const all = Object.entries(services);

describe('docker-compose.yml', () => {
  it('I4: has Temporal with UI, PostgreSQL, worker, API and a migration step', () => {
    expect(Object.keys(services)).toEqual(expect.arrayContaining(['postgres', 'temporal', 'temporal-ui', 'migrate', 'worker', 'api']));
  });

  it('I4: every long-running part of the product has a health check', () => {
    for (const name of ['postgres', 'temporal', 'temporal-ui', 'worker', 'api']) expect(services[name]?.healthcheck, name).toBeDefined();
  });

  it.each(all)('I4: %s waits only for services that can become what it waits for', (_name, { depends_on = {}, network_mode }) => {
    for (const [other, { condition }] of Object.entries(depends_on)) {
      expect(services[other], other).toBeDefined();
      if (condition === 'service_healthy') expect(services[other]?.healthcheck, other).toBeDefined();
      if (condition === 'service_completed_successfully') expect(services[other]?.restart, other).toMatch(/^(no|on-failure)/);
    }
    if (network_mode !== undefined) expect(Object.keys(depends_on)).toContain(network_mode.replace('service:', ''));
  });

  it('I9: publishes ports on loopback only', () => {
    const ports = all.flatMap(([, service]) => service.ports);
    expect(ports.length).toBeGreaterThan(3);
    for (const port of ports) expect(port).toMatch(/^127\.0\.0\.1:\$\{[A-Z_]+:-\d+\}:\d+$/);
  });

  it('I4: every variable has a default, so that nothing needs to be set first', () => {
    const used = [...text.matchAll(/(?<!\$)\$\{([^}]*)\}/g)].map(([, inner]) => inner);
    expect(used.length).toBeGreaterThan(5);
    for (const inner of used) expect(inner).toMatch(/^[A-Z][A-Z_]*:-/);
  });

  it('I4: mounts only what is there', () => {
    for (const mount of all.flatMap(([, service]) => service.volumes)) {
      const [source = ''] = mount.split(':');
      if (source.startsWith('.')) expect(existsSync(source), source).toBe(true);
      else expect(Object.keys(volumes)).toContain(source);
    }
  });

  it('I4: runs commands that the command line has, and scripts that are in the repository', () => {
    for (const [name, { build, command = [], healthcheck }] of all) {
      if (build !== undefined) expect(commands, name).toContain(command[0]);
      const [, program, script, argument] = healthcheck?.test ?? [];
      if (program === 'node' && script === 'dist/cli/main.js') expect(commands).toContain(argument);
    }
    for (const script of all.flatMap(([, service]) => service.entrypoint ?? []).filter((part) => part.endsWith('.mjs'))) expect(existsSync(script)).toBe(true);
  });

  it('I4: every network name that a setting points at is a service', () => {
    for (const [, host = ''] of text.matchAll(/(?:@|: |=|')([a-z-]+):(?:7233|5432)\b/g)) expect(Object.keys(services)).toContain(host);
  });
});

describe('Dockerfile', () => {
  it('I4: copies only what is in the repository or what the build stage makes', () => {
    const sources = dockerfile.filter((line) => line.startsWith('COPY')).flatMap((line) => line.split(/\s+/).slice(1, -1).filter((part) => !part.startsWith('--')));
    expect(sources.length).toBeGreaterThan(5);
    const made = ['/app/dist', '/app/node_modules'];
    for (const source of sources.filter((path) => !made.includes(path))) expect(existsSync(source.replace(/^\/app\//, '')), source).toBe(true);
  });

  it('I4: starts the command line, without being root', () => {
    expect(dockerfile).toContain('ENTRYPOINT ["node", "dist/cli/main.js"]');
    expect(existsSync('cli/main.ts')).toBe(true);
    expect(commands).toContain(/CMD \["(\w+)"\]/.exec(dockerfile.join('\n'))?.[1]);
    expect(dockerfile.indexOf('USER node')).toBeGreaterThan(dockerfile.lastIndexOf('FROM node:20-slim'));
  });

  it('I4: keeps secrets, local state and old builds out of the image', () => {
    const ignored = readFileSync('.dockerignore', 'utf8').split('\n');
    expect(ignored).toEqual(expect.arrayContaining(['.env', '.git', '.holdfast', 'dist', 'node_modules']));
  });
});
