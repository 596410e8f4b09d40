// Recipes for Java.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { choose, dockerfileOf, problemOf, recipeOf, startOf } from '../../support/recipes/recipes.ts'

const pom = (plugin: string) => `<project><build><plugin>${plugin}</plugin></build></project>`
const spring = pom('<artifactId>spring-boot-maven-plugin</artifactId>')
const maven = { 'pom.xml': spring }
const gradle = { 'settings.gradle': '', 'build.gradle': "id 'org.springframework.boot' version '3.5.0'" }
const wrapped = { gradlew: '', 'gradle/wrapper/gradle-wrapper.jar': '' }

const builds: Record<string, [Record<string, string>, string, string]> = {
  'Spring Boot with Maven': [
    maven,
    'RUN .*mvn --batch-mode -DskipTests package',
    'java -Dserver.port=$PORT -jar app.jar',
  ],
  'Spring Boot with Gradle': [
    gradle,
    'RUN .*gradle --no-daemon bootJar',
    'java -Dserver.port=$PORT -jar app.jar',
  ],
  'Spring Boot by a catalog of versions': [
    { 'build.gradle.kts': 'plugins {\n  alias(libs.plugins.spring.boot)\n}', ...wrapped },
    'FROM eclipse-temurin:21-jdk AS build(\n.*)+sh gradlew --no-daemon bootJar',
    'java -Dserver.port=$PORT -jar app.jar',
  ],
  Quarkus: [
    { 'pom.xml': pom('<artifactId>quarkus-maven-plugin</artifactId>') },
    'RUN cp -r /app/target/quarkus-app /out',
    'java -Dquarkus.http.port=$PORT -jar quarkus-run.jar',
  ],
  'a main class': [
    { 'pom.xml': pom('<mainClass>a.B</mainClass>'), mvnw: '', '.mvn/wrapper/maven-wrapper.properties': '' },
    'FROM eclipse-temurin:21-jdk AS build(\n.*)+sh mvnw ',
    'java -jar app.jar',
  ],
  'the application plugin in a module': [
    {
      'settings.gradle.kts': 'include("app")',
      'build.gradle.kts': 'plugins {\n  id("org.springframework.boot") version "3" apply false\n}',
      'app/build.gradle.kts': 'plugins {\n    application\n}',
    },
    'RUN .*gradle --no-daemon :app:installDist\nRUN cp -r /app/app/build/install/',
    '/app/bin/app',
  ],
  'a module of Maven': [
    { 'pom.xml': '<packaging>pom</packaging><modules></modules>', 'web/pom.xml': spring, 'lib/pom.xml': '' },
    '--projects web --also-make package\nRUN .*/app/web/target/\\*.jar',
    'java -Dserver.port=$PORT -jar app.jar',
  ],
}

for (const [what, [source, lines, command]] of Object.entries(builds))
  test(`${what} is built and starts`, () => {
    assert.match(dockerfileOf(source), new RegExp(lines))
    assert.equal(startOf(source), command)
  })

test('a start command finds files where the build put them', () => {
  const source = { ...maven, Procfile: 'web: java -jar target/shop.jar' }
  assert.match(dockerfileOf(source), /^COPY --from=build --chown=1000:1000 \/app \/app$/m)
  assert.equal(startOf(source), 'java -jar target/shop.jar')
})

test('of several modules one is asked for, which may be the folder of the service', () => {
  const source = {
    'pom.xml': '<packaging>pom</packaging><modules>',
    'api/pom.xml': spring,
    'job/pom.xml': spring,
  }
  assert.match(problemOf(source), /^several of its modules can run/)
  const refusal = choose(source)
  assert.deepEqual('apps' in refusal && refusal.apps, ['api', 'job'])
  assert.equal(recipeOf(source, {}, 'job').context, '')
  assert.match(dockerfileOf(source, {}, 'job'), /--projects job --also-make/)
})

test('a refusal says what was nearest', () => {
  assert.match(problemOf({ 'pom.xml': '<project/>' }), /^pom\.xml is there, but no module has Spring Boot/)
  assert.match(problemOf({ 'pom.xml': `<!-- ${spring} -->` }), /no module has Spring Boot/)
})

const versions: Record<string, [Record<string, string>, string]> = {
  'a property of Maven': [{ 'pom.xml': `<java.version>17</java.version>${spring}` }, '17'],
  'an old name': [{ 'pom.xml': `<maven.compiler.source>1.8</maven.compiler.source>${spring}` }, '8'],
  'the least with long support': [{ 'pom.xml': `<release>18</release>${spring}` }, '21'],
  'a toolchain of Gradle': [{ ...gradle, 'a/build.gradle.kts': 'JavaLanguageVersion.of(25)' }, '25'],
  'system.properties': [{ ...maven, 'system.properties': 'java.runtime.version=11' }, '11'],
  SDKMAN: [{ ...maven, '.sdkmanrc': '# x\njava=17.0.9-tem' }, '17'],
  asdf: [{ ...maven, '.tool-versions': 'java temurin-17.0.2+8' }, '17'],
  'an old wrapper': [
    { ...gradle, 'gradle/wrapper/gradle-wrapper.properties': 'distributionUrl=x/gradle-7.6.1-bin.zip' },
    '17',
  ],
}

for (const [what, [source, version]] of Object.entries(versions))
  test(`the version follows ${what}`, () => {
    assert.match(dockerfileOf(source), new RegExp(`^FROM eclipse-temurin:${version}-jre AS app$`, 'm'))
  })
